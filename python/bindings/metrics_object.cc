#include "metrics_object.h"

#include <string_view>

namespace wf::bindings {
namespace {

constexpr Py_ssize_t kMostCachedChildren = 10'000;  // further ones are looked up each time

PyObject* StrOf(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

PyObject* TupleOf(const std::vector<std::string>& texts) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(texts.size()));
  if (tuple == nullptr) return nullptr;
  for (size_t i = 0; i < texts.size(); ++i) {
    PyObject* text = StrOf(texts[i]);
    if (text == nullptr) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), text);
  }
  return tuple;
}

// Puts keyword values in the order of the label names; false with an exception set.
bool OrderKeywords(MetricObject* self, PyObject* const* values, PyObject* keywords, std::vector<PyObject*>* out) {
  const std::vector<std::string>& names = self->family->spec().label_names;
  const Py_ssize_t given = PyTuple_GET_SIZE(keywords);
  out->assign(names.size(), nullptr);
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyObject* keyword = PyTuple_GET_ITEM(keywords, i);
    size_t at = 0;
    while (at < names.size() && PyUnicode_CompareWithASCIIString(keyword, names[at].c_str()) != 0) ++at;
    if (at == names.size()) {
      PyErr_Format(PyExc_ValueError, "metric '%s' has no label '%U'", self->family->spec().name.c_str(), keyword);
      return false;
    }
    (*out)[at] = values[i];
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if ((*out)[i] != nullptr) continue;
    PyErr_Format(PyExc_ValueError, "metric '%s' needs a value for its label '%s'", self->family->spec().name.c_str(),
                 names[i].c_str());
    return false;
  }
  return true;
}

// The key under which a child is cached: the one str, or a tuple of str. Null without an exception: not cacheable,
// since values of other types may be equal and still read differently (1, True, 1.0).
PyObject* CacheKey(PyObject* const* args, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!PyUnicode_CheckExact(args[i])) return nullptr;
  }
  if (count == 1) {
    Py_INCREF(args[0]);
    return args[0];
  }
  PyObject* key = PyTuple_New(count);
  if (key == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_INCREF(args[i]);
    PyTuple_SET_ITEM(key, i, args[i]);
  }
  return key;
}

template <class Child>
PyObject* MakeChild(MetricObject* self, PyObject* const* args, Py_ssize_t count) {
  std::vector<std::string> texts;
  if (!LabelTexts(self, args, count, &texts)) return nullptr;
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  std::shared_ptr<Child> child = static_cast<metrics::FamilyOf<Child>*>(self->family)->With(views);
  PyObject* object = NewMetric(Py_TYPE(self), self->family, std::move(child));
  if (object == nullptr) return nullptr;
  Py_CLEAR(AsMetric(object)->children);
  Py_SETREF(AsMetric(object)->label_values, TupleOf(texts));
  if (AsMetric(object)->label_values == nullptr) Py_CLEAR(object);
  return object;
}

template <class Child>
PyObject* LabelsInOrder(MetricObject* self, PyObject* const* args, Py_ssize_t count) {
  const auto expected = static_cast<Py_ssize_t>(self->family->spec().label_names.size());
  if (count != expected) {
    return PyErr_Format(PyExc_ValueError, "metric '%s' has %zd labels, not %zd", self->family->spec().name.c_str(),
                        expected, count);
  }
  PyObject* key = CacheKey(args, count);
  if (key == nullptr) return PyErr_Occurred() ? nullptr : MakeChild<Child>(self, args, count);
  PyObject* child = PyDict_GetItemWithError(self->children, key);
  Py_XINCREF(child);
  if (child == nullptr && !PyErr_Occurred()) {
    child = MakeChild<Child>(self, args, count);
    const bool keep = child != nullptr && PyDict_GET_SIZE(self->children) < kMostCachedChildren;
    if (keep && PyDict_SetItem(self->children, key, child) < 0) Py_CLEAR(child);
  }
  Py_DECREF(key);
  return child;
}

// Every label name of an iterable; false with an exception set.
bool ReadLabelNames(PyObject* names, std::vector<std::string>* out) {
  if (PyUnicode_Check(names)) {
    PyErr_Format(PyExc_TypeError, "labelnames must be a sequence of names, such as ('%U',), not one str", names);
    return false;
  }
  PyObject* list = PySequence_Fast(names, "labelnames must be a sequence of str");
  if (list == nullptr) return false;
  bool fine = true;
  for (Py_ssize_t i = 0; fine && i < PySequence_Fast_GET_SIZE(list); ++i) {
    PyObject* name = PySequence_Fast_GET_ITEM(list, i);
    std::string text;
    if (!PyUnicode_Check(name)) {
      PyErr_Format(PyExc_TypeError, "a label name must be a str, not %R", name);
      fine = false;
    } else {
      fine = Utf8Of(name, &text);
      if (fine) out->push_back(std::move(text));
    }
  }
  Py_DECREF(list);
  return fine;
}

// namespace_subsystem_name_unit, as prometheus_client builds it.
bool BuildName(PyObject* name, PyObject* prefix, PyObject* subsystem, PyObject* unit, std::string* out) {
  std::string suffix;
  for (PyObject* part : {prefix, subsystem}) {
    if (part == nullptr || PyUnicode_GET_LENGTH(part) == 0) continue;
    if (!Utf8Of(part, out)) return false;
    out->push_back('_');
  }
  if (!Utf8Of(name, out) || (unit != nullptr && !Utf8Of(unit, &suffix))) return false;
  const bool total = out->ends_with("_total");
  if (total) out->resize(out->size() - 6);
  if (!suffix.empty() && !out->ends_with("_" + suffix)) out->append("_" + suffix);
  if (total) out->append("_total");
  return true;
}

}  // namespace

bool Utf8Of(PyObject* text, std::string* out) {
  Py_ssize_t size = 0;
  if (const char* direct = PyUnicode_AsUTF8AndSize(text, &size)) {
    out->append(direct, static_cast<size_t>(size));
    return true;
  }
  PyErr_Clear();  // lone surrogates
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
  if (bytes == nullptr) return false;
  out->append(PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
  Py_DECREF(bytes);
  return true;
}

bool LabelTexts(MetricObject* /*self*/, PyObject* const* args, Py_ssize_t count, std::vector<std::string>* out) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* text = PyObject_Str(args[i]);
    if (text == nullptr) return false;
    out->emplace_back();
    const bool fine = Utf8Of(text, &out->back());
    Py_DECREF(text);
    if (!fine) return false;
  }
  return true;
}

PyObject* RaiseNoLabels(MetricObject* self) {
  return PyErr_Format(PyExc_ValueError, "metric '%s' has labels; choose a child first: .labels(...)",
                      self->family->spec().name.c_str());
}

PyObject* RaiseFromErrors(const char* type, const Status& status) {
  PyObject* module = PyImport_ImportModule("workflow.errors");
  PyObject* error = module == nullptr ? nullptr : PyObject_GetAttrString(module, type);
  if (error != nullptr) PyErr_SetString(error, status.message().c_str());
  Py_XDECREF(error);
  Py_XDECREF(module);
  return nullptr;
}

bool ParseMetricArguments(PyObject* args, PyObject* keywords, bool with_buckets, MetricArguments* out) {
  static const char* names[] = {"name", "documentation", "labelnames", "namespace", "subsystem", "unit", nullptr};
  static const char* names_and_buckets[] = {"name",      "documentation", "labelnames", "namespace",
                                            "subsystem", "unit",          "buckets",    nullptr};
  PyObject *name = nullptr, *help = nullptr, *labels = nullptr, *prefix = nullptr, *subsystem = nullptr,
           *unit = nullptr;
  const char* format = with_buckets ? "UU|OUUU$O" : "UU|OUUU";
  char** list = const_cast<char**>(with_buckets ? names_and_buckets : names);
  if (!PyArg_ParseTupleAndKeywords(args, keywords, format, list, &name, &help, &labels, &prefix, &subsystem, &unit,
                                   &out->buckets)) {
    return false;
  }
  if (out->buckets == Py_None) out->buckets = nullptr;
  return BuildName(name, prefix, subsystem, unit, &out->name) && Utf8Of(help, &out->help) &&
         (labels == nullptr || ReadLabelNames(labels, &out->label_names));
}

PyObject* NewMetric(PyTypeObject* type, metrics::Family* family, std::shared_ptr<void> only_child) {
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  MetricObject* self = AsMetric(object);
  self->family = family;
  self->child = only_child.get();
  self->owner = new std::shared_ptr<void>(std::move(only_child));
  self->children = PyDict_New();
  self->label_values = PyTuple_New(0);
  if (self->children == nullptr || self->label_values == nullptr) Py_CLEAR(object);
  return object;
}

void DeallocMetric(PyObject* object) {
  MetricObject* self = AsMetric(object);
  PyTypeObject* type = Py_TYPE(object);
  delete self->owner;
  Py_XDECREF(self->children);
  Py_XDECREF(self->label_values);
  type->tp_free(object);
  Py_DECREF(type);
}

template <class Child>
PyObject* Labels(PyObject* object, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  MetricObject* self = AsMetric(object);
  if (self->family->spec().label_names.empty() || self->children == nullptr) {
    return PyErr_Format(PyExc_ValueError, "metric '%s' %s, so .labels() has no meaning here",
                        self->family->spec().name.c_str(),
                        self->children == nullptr ? "has its label values already" : "was made without label names");
  }
  if (keywords == nullptr || PyTuple_GET_SIZE(keywords) == 0) return LabelsInOrder<Child>(self, args, count);
  if (count != 0) return PyErr_Format(PyExc_ValueError, "give label values by position or by name, not both");
  std::vector<PyObject*> ordered;
  if (!OrderKeywords(self, args, keywords, &ordered)) return nullptr;
  return LabelsInOrder<Child>(self, ordered.data(), static_cast<Py_ssize_t>(ordered.size()));
}

template PyObject* Labels<metrics::Counter>(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
template PyObject* Labels<metrics::Gauge>(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
template PyObject* Labels<metrics::Histogram>(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

PyObject* NameOf(PyObject* self, void*) { return StrOf(AsMetric(self)->family->spec().name); }
PyObject* DocumentationOf(PyObject* self, void*) { return StrOf(AsMetric(self)->family->spec().help); }
PyObject* LabelNamesOf(PyObject* self, void*) { return TupleOf(AsMetric(self)->family->spec().label_names); }
PyObject* LabelValuesOf(PyObject* self, void*) {
  Py_INCREF(AsMetric(self)->label_values);
  return AsMetric(self)->label_values;
}

PyObject* ReprOf(PyObject* self) {
  return PyUnicode_FromFormat("%s(%s, labels=%R)", Py_TYPE(self)->tp_name, AsMetric(self)->family->spec().name.c_str(),
                              AsMetric(self)->label_values);
}

}  // namespace wf::bindings
