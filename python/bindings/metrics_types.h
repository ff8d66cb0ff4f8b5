// Counter, Gauge and Histogram as raw Python types, and the page they stand on.
//
// Raw types with METH_FASTCALL methods: an inc() of a kept child costs little more than the call itself. One type
// serves as family and as child, as in prometheus_client: without label names the object is its own only child. All
// count in the registry of the process, which a scrape reads without the GIL.
#ifndef WF_BINDINGS_METRICS_TYPES_H_
#define WF_BINDINGS_METRICS_TYPES_H_

#include <Python.h>

namespace wf::bindings {

// Adds the types Counter, Gauge and Histogram to `module`. -1 with an exception set on failure.
int InitMetricTypes(PyObject* module);

// Adds generate_latest, metrics_snapshot, set_metrics_namespace and MetricsServer to `module`; throws what nanobind
// does.
void BindMetrics(PyObject* module);

}  // namespace wf::bindings

#endif  // WF_BINDINGS_METRICS_TYPES_H_
