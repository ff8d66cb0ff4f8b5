// Layout: where one CPython version keeps what a stack needs, in bytes from the beginning of each object.
//
// One file per version (layout_3_8.cc to layout_3_15.cc), printed from that version's own headers by
// tools/cpython_layouts and compared with them again by its `check`. From 3.13 on the interpreter carries most of these
// offsets in its _Py_DebugOffsets table; ApplyDebugOffsets (debug_offsets.h) lets that table win over ours, so that a
// build with other options is read by its own word. 64-bit little-endian builds only.
#ifndef WF_CPYTHON_LAYOUT_H_
#define WF_CPYTHON_LAYOUT_H_

#include <cstdint>

namespace wf::cpython {

// A field that this version does not have.
inline constexpr uint32_t kAbsent = UINT32_MAX;

struct Layout {
  uint32_t minor = 0;

  // _PyRuntimeState. Until 3.11 the one GIL lies here, from 3.12 on each interpreter points to the one it uses.
  struct {
    uint32_t interpreters_head, gil;
  } runtime;

  // PyInterpreterState. code_counter goes up whenever a code object is made (0: it overflowed and says nothing more).
  // collecting_frame: the frame on which the garbage collector runs, null while it does not.
  struct {
    uint32_t id, next, threads_head, gil, modules, code_counter, collecting_frame;
  } interpreter;

  // struct _gil_runtime_state
  struct {
    uint32_t last_holder, locked, switch_number;
  } gil;

  // PyThreadState. 3.11 and 3.12 have no frame: they keep the current one in a struct on the C stack, the cframe.
  struct {
    uint32_t next, interpreter, frame, cframe, thread_id, native_thread_id, id, datastack_chunk, datastack_top, size;
  } thread;

  // _PyCFrame; in 3.10 CFrame, which has no current_frame.
  struct {
    uint32_t current_frame, previous;
  } cframe;

  // PyFrameObject until 3.10, then _PyInterpreterFrame. `instruction` is an index until 3.10 (in units of
  // instruction_bytes, negative: not begun), then a pointer into the code. Frames whose owner is first_shim or above
  // belong to the interpreter itself and have no Python code. is_entry: a byte of 3.11, 1 in the outermost of the
  // frames that one call of the evaluation loop runs.
  struct {
    uint32_t previous, code, instruction, owner, locals, size;
    uint32_t instruction_bytes, first_shim, is_entry;
  } frame;

  // PyCodeObject. `units` is ob_size: code units from 3.11 on. `instructions` is where the code begins; until 3.10 it
  // lies in a bytes object, co_code. `local_names` is a tuple of names, `local_kinds` bytes beside it.
  struct {
    uint32_t units, first_line, name, qualname, filename, line_table, version, first_traceable, instructions;
    uint32_t local_names, local_kinds, argument_count, keyword_only_count, flags, size;
  } code;

  // PyASCIIObject and PyCompactUnicodeObject; the masks are of the 32 bits at `state`.
  struct {
    uint32_t length, hash, state, ascii_data, compact_data, any_data;
    uint32_t kind_shift, compact_bit, ascii_bit;
  } unicode;

  struct {
    uint32_t size, data;
  } bytes;

  struct {
    uint32_t size, items;
  } tuple;

  struct {
    uint32_t size, items;
  } list;

  // PyLongObject: until 3.11 a signed number of digits, from 3.12 on a tag: digits << 3 | sign (2: negative, 1: zero).
  struct {
    uint32_t tag, digits;
  } integer;

  struct {
    uint32_t value;
  } floating;

  // PyDictObject and its keys. Until 3.10 `log2_size` is absent and keys_size holds the size itself.
  struct {
    uint32_t used, keys, values;
    uint32_t keys_size, keys_log2_size, keys_log2_index_bytes, keys_kind, keys_entry_count, keys_indices;
    uint32_t values_items;
  } dict;

  struct {
    uint32_t type, size;
  } object;

  struct {
    uint32_t name, basic_size, flags, dict_offset, cached_keys;
  } type;

  struct {
    uint32_t dict;
  } module;

  // PyGenObject, the head of coroutines and asynchronous generators too. `frame` points to the frame until 3.10, then
  // the frame itself lies there. Whether it runs says `running` until 3.9, then a state, 3.10's in the frame.
  // stack_top, in the frame: a pointer until 3.9 and from 3.14 on, a count of what lies at *value_stack in 3.10, then
  // of locals.
  struct {
    uint32_t frame, state, running, frame_state, stack_top, value_stack;
  } generator;

  // Heads of the lists of tasks, from 3.14 on: in a thread, and in the interpreter for those of threads that ended.
  struct {
    uint32_t thread_tasks, interpreter_tasks;
  } asyncio;
};

// The table of CPython 3.<minor>; nullptr when there is none.
const Layout* FindLayout(uint32_t minor);

inline constexpr uint32_t kOldestMinor = 8;
inline constexpr uint32_t kNewestMinor = 15;

extern const Layout kLayout3_8;
extern const Layout kLayout3_9;
extern const Layout kLayout3_10;
extern const Layout kLayout3_11;
extern const Layout kLayout3_12;
extern const Layout kLayout3_13;
extern const Layout kLayout3_14;
extern const Layout kLayout3_15;

}  // namespace wf::cpython

#endif  // WF_CPYTHON_LAYOUT_H_
