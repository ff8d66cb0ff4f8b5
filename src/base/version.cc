#include "base/version.h"

namespace wf {

std::string_view Version() { return WF_VERSION; }

}  // namespace wf
