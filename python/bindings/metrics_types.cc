#include "metrics_types.h"

#include <array>
#include <cmath>

#include "metrics/registry.h"
#include "metrics/run_families.h"
#include "metrics_object.h"

namespace wf::bindings {
namespace {

using metrics::Counter;
using metrics::Gauge;
using metrics::Histogram;

// A number from Python; false with an exception set.
inline bool NumberOf(PyObject* object, double* out) {
  if (PyFloat_CheckExact(object)) {
    *out = PyFloat_AS_DOUBLE(object);
    return true;
  }
  if (PyLong_CheckExact(object)) {
    *out = PyLong_AsDouble(object);
    return *out != -1.0 || !PyErr_Occurred();
  }
  *out = PyFloat_AsDouble(object);  // also numpy scalars, Decimal, ...
  return *out != -1.0 || !PyErr_Occurred();
}

// The one argument, by position or under `name`; when there is none and `fallback` is not NaN, that. False with an
// exception set.
inline bool OneNumber(PyObject* const* args, Py_ssize_t count, PyObject* keywords, const char* name, double fallback,
                      double* out) {
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  if (count + named == 1) {
    if (named == 0 || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), name) == 0) {
      return NumberOf(args[0], out);
    }
    PyErr_Format(PyExc_TypeError, "unexpected keyword argument '%U'; the one there is is '%s'",
                 PyTuple_GET_ITEM(keywords, 0), name);
    return false;
  }
  if (count + named == 0 && !std::isnan(fallback)) {
    *out = fallback;
    return true;
  }
  PyErr_Format(PyExc_TypeError, "needs one argument, '%s', not %zd", name, count + named);
  return false;
}

// A hot method's usual case is a function that calls nothing, so that it has no registers to save, which would be a
// good part of its time; it leaves all else to this one.
[[gnu::noinline]] PyObject* CounterIncAny(PyObject* object, PyObject* const* args, Py_ssize_t count,
                                          PyObject* keywords) {
  MetricObject* self = AsMetric(object);
  auto* counter = static_cast<Counter*>(self->child);
  if (counter == nullptr) return RaiseNoLabels(self);
  double amount = 0;
  if (!OneNumber(args, count, keywords, "amount", 1, &amount)) return nullptr;
  if (!counter->Add(amount) && amount < 0) {
    return PyErr_Format(PyExc_ValueError, "counter '%s' cannot fall; use a Gauge for what can",
                        self->family->spec().name.c_str());
  }
  Py_RETURN_NONE;  // NaN and infinity are not added: they would spoil the sum for ever
}

PyObject* CounterInc(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  auto* counter = static_cast<Counter*>(AsMetric(object)->child);
  if (count != 0 || keywords != nullptr || counter == nullptr) [[unlikely]] {
    return CounterIncAny(object, args, count, keywords);
  }
  counter->Inc();
  Py_RETURN_NONE;
}

PyObject* CounterValue(PyObject* object, void*) {
  MetricObject* self = AsMetric(object);
  if (self->child == nullptr) return RaiseNoLabels(self);
  return PyFloat_FromDouble(static_cast<Counter*>(self->child)->Value());
}

template <int kSign>
PyObject* GaugeAdd(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  MetricObject* self = AsMetric(object);
  if (self->child == nullptr) return RaiseNoLabels(self);
  double amount = 0;
  if (!OneNumber(args, count, keywords, "amount", 1, &amount)) return nullptr;
  static_cast<Gauge*>(self->child)->Add(kSign * amount);
  Py_RETURN_NONE;
}

PyObject* GaugeSet(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  MetricObject* self = AsMetric(object);
  if (self->child == nullptr) return RaiseNoLabels(self);
  double value = 0;
  if (!OneNumber(args, count, keywords, "value", NAN, &value)) return nullptr;
  static_cast<Gauge*>(self->child)->Set(value);
  Py_RETURN_NONE;
}

PyObject* GaugeRemove(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  MetricObject* self = AsMetric(object);
  const auto expected = static_cast<Py_ssize_t>(self->family->spec().label_names.size());
  if (self->children == nullptr || expected == 0 || count != expected) {
    return PyErr_Format(PyExc_ValueError, "remove() of metric '%s' needs a value for each of its %zd labels",
                        self->family->spec().name.c_str(), expected);
  }
  std::vector<std::string> texts;
  if (!LabelTexts(self, args, count, &texts)) return nullptr;
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  static_cast<metrics::GaugeFamily*>(self->family)->Remove(views);
  PyDict_Clear(self->children);
  Py_RETURN_NONE;
}

PyObject* GaugeValue(PyObject* object, void*) {
  MetricObject* self = AsMetric(object);
  if (self->child == nullptr) return RaiseNoLabels(self);
  return PyFloat_FromDouble(static_cast<Gauge*>(self->child)->Value());
}

[[gnu::noinline]] PyObject* HistogramObserveAny(PyObject* object, PyObject* const* args, Py_ssize_t count,
                                                PyObject* keywords) {
  MetricObject* self = AsMetric(object);
  auto* histogram = static_cast<Histogram*>(self->child);
  if (histogram == nullptr) return RaiseNoLabels(self);
  double value = 0;
  if (!OneNumber(args, count, keywords, "amount", NAN, &value)) return nullptr;
  histogram->Observe(value);  // NaN is not counted: it would spoil the sum for ever
  Py_RETURN_NONE;
}

PyObject* HistogramObserve(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  auto* histogram = static_cast<Histogram*>(AsMetric(object)->child);
  if (count != 1 || keywords != nullptr || histogram == nullptr || !PyFloat_CheckExact(args[0])) [[unlikely]] {
    return HistogramObserveAny(object, args, count, keywords);
  }
  histogram->Observe(PyFloat_AS_DOUBLE(args[0]));
  Py_RETURN_NONE;
}

PyObject* HistogramCount(PyObject* object, void*) {
  MetricObject* self = AsMetric(object);
  if (self->child == nullptr) return RaiseNoLabels(self);
  return PyLong_FromUnsignedLongLong(static_cast<Histogram*>(self->child)->Snapshot().count());
}

PyObject* HistogramSum(PyObject* object, void*) {
  MetricObject* self = AsMetric(object);
  if (self->child == nullptr) return RaiseNoLabels(self);
  return PyFloat_FromDouble(static_cast<Histogram*>(self->child)->Snapshot().sum);
}

PyObject* HistogramBuckets(PyObject* object, void*) {
  const std::vector<double>& bounds = *AsMetric(object)->family->bounds();
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(bounds.size()));
  for (size_t i = 0; tuple != nullptr && i < bounds.size(); ++i) {
    PyObject* bound = PyFloat_FromDouble(bounds[i]);
    if (bound == nullptr) Py_CLEAR(tuple);
    if (tuple != nullptr) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), bound);
  }
  return tuple;
}

// The product's own names are taken even while its families are not made yet.
bool CheckNameIsFree(const MetricArguments& arguments) {
  if (!metrics::IsRunFamilyName(arguments.name)) return true;
  RaiseFromErrors(
      "MetricsError",
      Status(Code::kAlreadyExists, "the metric name \"" + arguments.name +
                                       "\" belongs to Workflow's own families; choose another, or give namespace="));
  return false;
}

template <class Child>
PyObject* Wrap(PyTypeObject* type, Result<metrics::FamilyOf<Child>*> family) {
  if (!family.ok()) return RaiseFromErrors("MetricsError", family.status());
  std::shared_ptr<void> only;
  if ((*family)->spec().label_names.empty()) only = (*family)->With({});
  return NewMetric(type, *family, std::move(only));
}

PyObject* NewCounter(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  MetricArguments given;
  if (!ParseMetricArguments(args, keywords, false, &given) || !CheckNameIsFree(given)) return nullptr;
  return Wrap<Counter>(type, metrics::DefaultRegistry().AddCounter(given.name, given.help, given.label_names));
}

PyObject* NewGauge(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  MetricArguments given;
  if (!ParseMetricArguments(args, keywords, false, &given) || !CheckNameIsFree(given)) return nullptr;
  return Wrap<Gauge>(type, metrics::DefaultRegistry().AddGauge(given.name, given.help, given.label_names));
}

bool ReadBuckets(PyObject* buckets, std::vector<double>* out) {
  PyObject* list = PySequence_Fast(buckets, "buckets must be a sequence of numbers");
  if (list == nullptr) return false;
  bool fine = true;
  for (Py_ssize_t i = 0; fine && i < PySequence_Fast_GET_SIZE(list); ++i) {
    double bound = 0;
    fine = NumberOf(PySequence_Fast_GET_ITEM(list, i), &bound);
    out->push_back(bound);
  }
  Py_DECREF(list);
  return fine;
}

PyObject* NewHistogram(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  MetricArguments given;
  if (!ParseMetricArguments(args, keywords, true, &given) || !CheckNameIsFree(given)) return nullptr;
  // Explicit, so that a user's histogram does not fix the bounds of the product's own.
  std::vector<double> bounds(metrics::DefaultBounds().begin(), metrics::DefaultBounds().end());
  if (given.buckets != nullptr) {
    bounds.clear();
    if (!ReadBuckets(given.buckets, &bounds)) return nullptr;
  }
  return Wrap<Histogram>(
      type, metrics::DefaultRegistry().AddHistogram(given.name, given.help, given.label_names, std::span(bounds)));
}

template <class Function>
PyCFunction AsMethod(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;
constexpr const char* kLabelsDoc =
    "labels($self, /, *values, **named)\n--\n\nThe child with these label values, by position or by name; keep it.";

PyMethodDef counter_methods[] = {
    {"inc", AsMethod(CounterInc), kFast, "inc($self, /, amount=1)\n--\n\nAdd `amount`, which must not be negative."},
    {"labels", AsMethod(Labels<Counter>), kFast, kLabelsDoc},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef gauge_methods[] = {
    {"set", AsMethod(GaugeSet), kFast, "set($self, /, value)\n--\n\nSet the value."},
    {"inc", AsMethod(GaugeAdd<1>), kFast, "inc($self, /, amount=1)\n--\n\nAdd `amount`."},
    {"dec", AsMethod(GaugeAdd<-1>), kFast, "dec($self, /, amount=1)\n--\n\nTake `amount` off."},
    {"labels", AsMethod(Labels<Gauge>), kFast, kLabelsDoc},
    {"remove", AsMethod(GaugeRemove), METH_FASTCALL,
     "remove($self, /, *values)\n--\n\nTake the child with these label values off the page."},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef histogram_methods[] = {
    {"observe", AsMethod(HistogramObserve), kFast, "observe($self, /, amount)\n--\n\nCount `amount` in its bucket."},
    {"labels", AsMethod(Labels<Histogram>), kFast, kLabelsDoc},
    {nullptr, nullptr, 0, nullptr},
};

#define WF_METRIC_ATTRIBUTES                                                                  \
  {"name", NameOf, nullptr, "name of the family", nullptr},                                   \
      {"documentation", DocumentationOf, nullptr, "help text", nullptr},                      \
      {"labelnames", LabelNamesOf, nullptr, "label names of the family", nullptr}, {          \
    "labelvalues", LabelValuesOf, nullptr, "label values of a child; () in a family", nullptr \
  }

PyGetSetDef counter_attributes[] = {
    WF_METRIC_ATTRIBUTES,
    {"value", CounterValue, nullptr, "the sum so far", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyGetSetDef gauge_attributes[] = {
    WF_METRIC_ATTRIBUTES,
    {"value", GaugeValue, nullptr, "the value", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyGetSetDef histogram_attributes[] = {
    WF_METRIC_ATTRIBUTES,
    {"count", HistogramCount, nullptr, "number of observations", nullptr},
    {"sum", HistogramSum, nullptr, "their sum", nullptr},
    {"buckets", HistogramBuckets, nullptr, "finite upper bounds of the buckets", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

int AddType(PyObject* module, const char* qualified_name, const char* doc, newfunc make, PyMethodDef* methods,
            PyGetSetDef* attributes) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>(doc)},
      {Py_tp_new, reinterpret_cast<void*>(make)},
      {Py_tp_dealloc, reinterpret_cast<void*>(DeallocMetric)},
      {Py_tp_repr, reinterpret_cast<void*>(ReprOf)},
      {Py_tp_methods, methods},
      {Py_tp_getset, attributes},
      {0, nullptr},
  };
  PyType_Spec spec = {qualified_name, sizeof(MetricObject), 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) return -1;
  const int result = PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type));
  Py_DECREF(type);
  return result;
}

}  // namespace

int InitMetricTypes(PyObject* module) {
  if (AddType(module, "workflow.metrics.Counter",
              "Counter(name, documentation, labelnames=(), namespace='', subsystem='', unit='')\n--\n\n"
              "A sum that only grows.",
              NewCounter, counter_methods, counter_attributes) < 0 ||
      AddType(module, "workflow.metrics.Gauge",
              "Gauge(name, documentation, labelnames=(), namespace='', subsystem='', unit='')\n--\n\n"
              "A value that goes up and down.",
              NewGauge, gauge_methods, gauge_attributes) < 0) {
    return -1;
  }
  return AddType(module, "workflow.metrics.Histogram",
                 "Histogram(name, documentation, labelnames=(), namespace='', subsystem='', unit='', *, buckets=None)"
                 "\n--\n\nHow often values fell into each bucket, their number and their sum.",
                 NewHistogram, histogram_methods, histogram_attributes);
}

}  // namespace wf::bindings
