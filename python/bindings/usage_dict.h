// Usage as a Python dict {field: (value, quality)}, absent figures left out; how it travels from worker processes.
#ifndef WF_BINDINGS_USAGE_DICT_H_
#define WF_BINDINGS_USAGE_DICT_H_

#include <nanobind/nanobind.h>

#include "profile/model.h"

namespace wf::bindings {

nanobind::dict UsageToDict(const profile::Usage& usage);
// Unknown fields are ignored, so that a newer worker does no harm. Throws on values that are not (int, int).
profile::Usage UsageFromDict(const nanobind::dict& dict);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_USAGE_DICT_H_
