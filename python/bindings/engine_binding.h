// Engine and Job as Python classes.
#ifndef WF_BINDINGS_ENGINE_BINDING_H_
#define WF_BINDINGS_ENGINE_BINDING_H_

#include <nanobind/nanobind.h>

namespace wf::bindings {

void BindEngine(nanobind::module_& module);
// Observation, measure_begin, measure_end, current_attempt and the clocks.
void BindMeasuring(nanobind::module_& module);
void BindDelta(nanobind::module_& module);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_ENGINE_BINDING_H_
