// The fixed parts of a flame graph's SVG: style, controls, and the script that makes it interactive.
#ifndef WF_PROFILE_FLAME_GRAPH_SCRIPT_H_
#define WF_PROFILE_FLAME_GRAPH_SCRIPT_H_

namespace wf::profile {

extern const char* const kFlameGraphStyle;
extern const char* const kFlameGraphControls;
extern const char* const kFlameGraphScript;

}  // namespace wf::profile

#endif  // WF_PROFILE_FLAME_GRAPH_SCRIPT_H_
