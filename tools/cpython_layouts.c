/* Prints the layout table of the CPython whose headers it is compiled with; see tools/cpython_layouts. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#endif
#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_code.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include "internal/pycore_interpframe_structs.h"
#include "internal/pycore_tstate.h"
#endif

#define ABSENT 0xFFFFFFFFu
#define AT(type, field) ((unsigned)offsetof(type, field))

static int first;
static void Open(const char *name) { printf("    .%s = {", name); first = 1; }
static void Field(const char *name, unsigned value) {
  printf(first ? "." : ", .");
  if (value == ABSENT) printf("%s = kAbsent", name); else printf("%s = %u", name, value);
  first = 0;
}
static void Close(void) { printf("},\n"); }

/* Where the bit fields of a string's state lie, learnt by setting them. */
static unsigned StateWord(int compact, int ascii, int kind) {
  PyASCIIObject object;
  unsigned word = 0;
  memset(&object, 0, sizeof object);
  object.state.compact = compact;
  object.state.ascii = ascii;
  object.state.kind = kind;
  memcpy(&word, &object.state, sizeof word);
  return word;
}
static unsigned Shift(unsigned word) {
  unsigned shift = 0;
  while (!(word >> shift & 1)) ++shift;
  return shift;
}

#if PY_VERSION_HEX < 0x030b0000
typedef struct _frame Frame;
#else
typedef struct _PyInterpreterFrame Frame;
#endif

int main(void) {
  printf("    .minor = %d,\n", PY_MINOR_VERSION);

  Open("runtime");
  Field("interpreters_head", AT(_PyRuntimeState, interpreters.head));
#if PY_VERSION_HEX < 0x030c0000
  Field("gil", AT(_PyRuntimeState, ceval.gil));
#else
  Field("gil", ABSENT);
#endif
  Close();

  Open("interpreter");
  Field("id", AT(PyInterpreterState, id));
  Field("next", AT(PyInterpreterState, next));
#if PY_VERSION_HEX < 0x030b0000
  Field("threads_head", AT(PyInterpreterState, tstate_head));
#else
  Field("threads_head", AT(PyInterpreterState, threads.head));
#endif
#if PY_VERSION_HEX < 0x030c0000
  Field("gil", ABSENT);
  Field("modules", AT(PyInterpreterState, modules));
  Field("code_counter", ABSENT);
#else
  Field("gil", AT(PyInterpreterState, ceval.gil));
  Field("modules", AT(PyInterpreterState, imports.modules));
  Field("code_counter", AT(PyInterpreterState, func_state.next_version));
#endif
#if PY_VERSION_HEX < 0x030f0000
  Field("collecting_frame", ABSENT);
#else
  Field("collecting_frame", AT(PyInterpreterState, gc.frame));
#endif
  Close();

  Open("gil");
  Field("last_holder", AT(struct _gil_runtime_state, last_holder));
  Field("locked", AT(struct _gil_runtime_state, locked));
  Field("switch_number", AT(struct _gil_runtime_state, switch_number));
  Close();

  Open("thread");
  Field("next", AT(PyThreadState, next));
  Field("interpreter", AT(PyThreadState, interp));
#if PY_VERSION_HEX < 0x030b0000
  Field("frame", AT(PyThreadState, frame));
#if PY_VERSION_HEX >= 0x030a0000
  Field("cframe", AT(PyThreadState, cframe));
#else
  Field("cframe", ABSENT);
#endif
#elif PY_VERSION_HEX < 0x030d0000
  Field("frame", ABSENT);
  Field("cframe", AT(PyThreadState, cframe));
#else
  Field("frame", AT(PyThreadState, current_frame));
  Field("cframe", ABSENT);
#endif
  Field("thread_id", AT(PyThreadState, thread_id));
#if PY_VERSION_HEX < 0x030b0000
  Field("native_thread_id", ABSENT);
  Field("id", AT(PyThreadState, id));
  Field("datastack_chunk", ABSENT);
  Field("datastack_top", ABSENT);
#else
  Field("native_thread_id", AT(PyThreadState, native_thread_id));
  Field("id", AT(PyThreadState, id));
  Field("datastack_chunk", AT(PyThreadState, datastack_chunk));
  Field("datastack_top", AT(PyThreadState, datastack_top));
#endif
  Field("size", sizeof(PyThreadState));
  Close();

  Open("cframe");
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030d0000
  Field("current_frame", AT(_PyCFrame, current_frame));
#else
  Field("current_frame", ABSENT);
#endif
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030d0000
  Field("previous", AT(_PyCFrame, previous));
#elif PY_VERSION_HEX >= 0x030a0000 && PY_VERSION_HEX < 0x030b0000
  Field("previous", AT(CFrame, previous));
#else
  Field("previous", ABSENT);
#endif
  Close();

  Open("frame");
#if PY_VERSION_HEX < 0x030b0000
  Field("previous", AT(Frame, f_back));
  Field("code", AT(Frame, f_code));
  Field("instruction", AT(Frame, f_lasti));
  Field("owner", ABSENT);
  Field("locals", AT(Frame, f_localsplus));
#else
  Field("previous", AT(Frame, previous));
#if PY_VERSION_HEX < 0x030d0000
  Field("code", AT(Frame, f_code));
  Field("instruction", AT(Frame, prev_instr));
#else
  Field("code", AT(Frame, f_executable));
  Field("instruction", AT(Frame, instr_ptr));
#endif
  Field("owner", AT(Frame, owner));
  Field("locals", AT(Frame, localsplus));
#endif
  Field("size", sizeof(Frame));
#if PY_VERSION_HEX < 0x030a0000
  Field("instruction_bytes", 1);
#elif PY_VERSION_HEX < 0x030b0000
  Field("instruction_bytes", 2);
#else
  Field("instruction_bytes", ABSENT);
#endif
#if PY_VERSION_HEX < 0x030c0000
  Field("first_shim", ABSENT);
#elif PY_VERSION_HEX < 0x030e0000
  Field("first_shim", FRAME_OWNED_BY_CSTACK);
#else
  Field("first_shim", FRAME_OWNED_BY_INTERPRETER);
#endif
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
  Field("is_entry", AT(Frame, is_entry));
#else
  Field("is_entry", ABSENT);
#endif
  Close();

  Open("code");
#if PY_VERSION_HEX < 0x030b0000
  Field("units", ABSENT);
#else
  Field("units", AT(PyVarObject, ob_size));
#endif
  Field("first_line", AT(PyCodeObject, co_firstlineno));
  Field("name", AT(PyCodeObject, co_name));
#if PY_VERSION_HEX < 0x030b0000
  Field("qualname", ABSENT);
#else
  Field("qualname", AT(PyCodeObject, co_qualname));
#endif
  Field("filename", AT(PyCodeObject, co_filename));
#if PY_VERSION_HEX < 0x030a0000
  Field("line_table", AT(PyCodeObject, co_lnotab));
#else
  Field("line_table", AT(PyCodeObject, co_linetable));
#endif
#if PY_VERSION_HEX < 0x030c0000
  Field("version", ABSENT);
#else
  Field("version", AT(PyCodeObject, co_version));
#endif
#if PY_VERSION_HEX < 0x030b0000
  Field("first_traceable", ABSENT);
  Field("instructions", AT(PyCodeObject, co_code));
  Field("local_names", AT(PyCodeObject, co_varnames));
  Field("local_kinds", ABSENT);
#else
  Field("first_traceable", AT(PyCodeObject, _co_firsttraceable));
  Field("instructions", AT(PyCodeObject, co_code_adaptive));
  Field("local_names", AT(PyCodeObject, co_localsplusnames));
  Field("local_kinds", AT(PyCodeObject, co_localspluskinds));
#endif
  Field("argument_count", AT(PyCodeObject, co_argcount));
  Field("keyword_only_count", AT(PyCodeObject, co_kwonlyargcount));
  Field("flags", AT(PyCodeObject, co_flags));
  Field("size", sizeof(PyCodeObject));
  Close();

  Open("unicode");
  Field("length", AT(PyASCIIObject, length));
  Field("hash", AT(PyASCIIObject, hash));
  Field("state", AT(PyASCIIObject, state));
  Field("ascii_data", sizeof(PyASCIIObject));
  Field("compact_data", sizeof(PyCompactUnicodeObject));
  Field("any_data", AT(PyUnicodeObject, data));
  Field("kind_shift", Shift(StateWord(0, 0, 1)));
  Field("compact_bit", Shift(StateWord(1, 0, 0)));
  Field("ascii_bit", Shift(StateWord(0, 1, 0)));
  Close();

  Open("bytes");
  Field("size", AT(PyVarObject, ob_size));
  Field("data", AT(PyBytesObject, ob_sval));
  Close();
  Open("tuple");
  Field("size", AT(PyVarObject, ob_size));
  Field("items", AT(PyTupleObject, ob_item));
  Close();
  Open("list");
  Field("size", AT(PyVarObject, ob_size));
  Field("items", AT(PyListObject, ob_item));
  Close();
  Open("integer");
#if PY_VERSION_HEX < 0x030c0000
  Field("tag", AT(PyVarObject, ob_size));
  Field("digits", sizeof(PyVarObject));
#else
  Field("tag", AT(PyLongObject, long_value.lv_tag));
  Field("digits", AT(PyLongObject, long_value.ob_digit));
#endif
  Close();
  Open("floating");
  Field("value", AT(PyFloatObject, ob_fval));
  Close();

  Open("dict");
  Field("used", AT(PyDictObject, ma_used));
  Field("keys", AT(PyDictObject, ma_keys));
  Field("values", AT(PyDictObject, ma_values));
#if PY_VERSION_HEX < 0x030b0000
  /* struct _dictkeysobject of Objects/dict-common.h, which is not installed: refcnt, size, lookup, usable, nentries. */
  Field("keys_size", 8);
  Field("keys_log2_size", ABSENT);
  Field("keys_log2_index_bytes", ABSENT);
  Field("keys_kind", ABSENT);
  Field("keys_entry_count", 32);
  Field("keys_indices", 40);
  Field("values_items", 0);
#else
  Field("keys_size", ABSENT);
  Field("keys_log2_size", AT(struct _dictkeysobject, dk_log2_size));
  Field("keys_log2_index_bytes", AT(struct _dictkeysobject, dk_log2_index_bytes));
  Field("keys_kind", AT(struct _dictkeysobject, dk_kind));
  Field("keys_entry_count", AT(struct _dictkeysobject, dk_nentries));
  Field("keys_indices", AT(struct _dictkeysobject, dk_indices));
  Field("values_items", AT(struct _dictvalues, values));
#endif
  Close();

  Open("object");
  Field("type", AT(PyObject, ob_type));
  Field("size", sizeof(PyObject));
  Close();
  Open("type");
  Field("name", AT(PyTypeObject, tp_name));
  Field("basic_size", AT(PyTypeObject, tp_basicsize));
  Field("flags", AT(PyTypeObject, tp_flags));
  Field("dict_offset", AT(PyTypeObject, tp_dictoffset));
  Field("cached_keys", AT(PyHeapTypeObject, ht_cached_keys));
  Close();
  /* PyModuleObject is private; md_dict has followed the object's head since 3.0. */
  Open("module");
  Field("dict", sizeof(PyObject));
  Close();
  /* A generator, coroutine or asynchronous generator, and what its frame says of its stack of values. */
  Open("generator");
#if PY_VERSION_HEX < 0x030b0000
  Field("frame", AT(PyGenObject, gi_frame));
  Field("state", ABSENT);
#else
  Field("frame", AT(PyGenObject, gi_iframe));
  Field("state", AT(PyGenObject, gi_frame_state));
#endif
#if PY_VERSION_HEX < 0x030a0000
  Field("running", AT(PyGenObject, gi_running));
  Field("frame_state", ABSENT);
  Field("stack_top", AT(Frame, f_stacktop));
  Field("value_stack", AT(Frame, f_valuestack));
#elif PY_VERSION_HEX < 0x030b0000
  Field("running", ABSENT);
  Field("frame_state", AT(Frame, f_state));
  Field("stack_top", AT(Frame, f_stackdepth));
  Field("value_stack", AT(Frame, f_valuestack));
#else
  Field("running", ABSENT);
  Field("frame_state", ABSENT);
#if PY_VERSION_HEX < 0x030e0000
  Field("stack_top", AT(Frame, stacktop));
#else
  Field("stack_top", AT(Frame, stackpointer));
#endif
  Field("value_stack", ABSENT);
#endif
  Close();
  /* The lists of asyncio's tasks: heads of struct llist_node. */
  Open("asyncio");
#if PY_VERSION_HEX < 0x030e0000
  Field("thread_tasks", ABSENT);
  Field("interpreter_tasks", ABSENT);
#else
  Field("thread_tasks", AT(_PyThreadStateImpl, asyncio_tasks_head));
  Field("interpreter_tasks", AT(PyInterpreterState, asyncio_tasks_head));
#endif
  Close();
  return 0;
}
