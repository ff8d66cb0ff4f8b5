// The colours of frames: a hue per module, so that one sees at a glance whose code it is; a shade per function.
#ifndef WF_PROFILE_FLAME_COLORS_H_
#define WF_PROFILE_FLAME_COLORS_H_

#include <string>

#include "profile/stack_view.h"

namespace wf::profile {

// What the legend calls a frame's colour: "program", "python", "numpy", "kernel", "markers".
std::string ColorGroupOf(const ShownFrame& frame);
// "#rrggbb", light enough for black text.
std::string GroupColor(const ShownFrame& frame);
std::string ColorOf(const ShownFrame& frame);

}  // namespace wf::profile

#endif  // WF_PROFILE_FLAME_COLORS_H_
