// MetricObject: what Counter, Gauge and Histogram have in common. Internal to metrics_*.cc.
#ifndef WF_BINDINGS_METRICS_OBJECT_H_
#define WF_BINDINGS_METRICS_OBJECT_H_

#include <Python.h>

#include <memory>
#include <string>
#include <vector>

#include "metrics/family.h"

namespace wf::bindings {

struct MetricObject {
  PyObject_HEAD void* child;     // metrics::Counter, Gauge or Histogram; null when label values are missing
  metrics::Family* family;       // lives as long as the process
  std::shared_ptr<void>* owner;  // of child: keeps a gauge that was removed from the page
  PyObject* children;            // dict: label values as given -> child object; null in a child
  PyObject* label_values;        // tuple of str; empty in a family
};

// Frees all and the object. For tp_dealloc.
void DeallocMetric(PyObject* self);
// A family object without children. Null with an exception set on failure.
PyObject* NewMetric(PyTypeObject* type, metrics::Family* family, std::shared_ptr<void> only_child);

// .labels(*values, **values), for tp_methods (METH_FASTCALL | METH_KEYWORDS). Child is the metrics:: class of `self`.
template <class Child>
PyObject* Labels(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);

// The label values among `args` as UTF-8; false with an exception set.
bool LabelTexts(MetricObject* self, PyObject* const* args, Py_ssize_t count, std::vector<std::string>* out);

// Sets ValueError: this family needs .labels() first. Returns null.
PyObject* RaiseNoLabels(MetricObject* self);

// Sets workflow.errors.`type` for `status` and returns null. REQUIRES: !status.ok().
PyObject* RaiseFromErrors(const char* type, const Status& status);

// Appends a str as UTF-8; lone surrogates become what the page shows for foreign bytes. False with an exception set.
bool Utf8Of(PyObject* text, std::string* out);

// The arguments of Counter(...), Gauge(...), Histogram(...).
struct MetricArguments {
  std::string name;
  std::string help;
  std::vector<std::string> label_names;
  PyObject* buckets = nullptr;  // borrowed; null: not given
};
bool ParseMetricArguments(PyObject* args, PyObject* keywords, bool with_buckets, MetricArguments* out);

// Read-only attributes of all three types: name, documentation, labelnames, labelvalues.
PyObject* NameOf(PyObject* self, void*);
PyObject* DocumentationOf(PyObject* self, void*);
PyObject* LabelNamesOf(PyObject* self, void*);
PyObject* LabelValuesOf(PyObject* self, void*);
PyObject* ReprOf(PyObject* self);

inline MetricObject* AsMetric(PyObject* self) { return reinterpret_cast<MetricObject*>(self); }

}  // namespace wf::bindings

#endif  // WF_BINDINGS_METRICS_OBJECT_H_
