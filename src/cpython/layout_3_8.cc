// Layout of CPython 3.8, printed by tools/cpython_layouts from the headers of 3.8.18; do not edit.
#include "cpython/layout.h"

namespace wf::cpython {

// clang-format off
constexpr Layout kLayout3_8 = {
    .minor = 8,
    .runtime = {.interpreters_head = 32, .gil = 1152},
    .interpreter = {.id = 16, .next = 0, .threads_head = 8, .gil = kAbsent, .modules = 56, .code_counter = kAbsent, .collecting_frame = kAbsent},
    .gil = {.last_holder = 8, .locked = 16, .switch_number = 24},
    .thread = {.next = 8, .interpreter = 16, .frame = 24, .cframe = kAbsent, .thread_id = 176, .native_thread_id = kAbsent, .id = 256, .datastack_chunk = kAbsent, .datastack_top = kAbsent, .size = 264},
    .cframe = {.current_frame = kAbsent, .previous = kAbsent},
    .frame = {.previous = 24, .code = 32, .instruction = 104, .owner = kAbsent, .locals = 360, .size = 368, .instruction_bytes = 1, .first_shim = kAbsent, .is_entry = kAbsent},
    .code = {.units = kAbsent, .first_line = 40, .name = 112, .qualname = kAbsent, .filename = 104, .line_table = 120, .version = kAbsent, .first_traceable = kAbsent, .instructions = 48, .local_names = 72, .local_kinds = kAbsent, .argument_count = 16, .keyword_only_count = 24, .flags = 36, .size = 176},
    .unicode = {.length = 16, .hash = 24, .state = 32, .ascii_data = 48, .compact_data = 72, .any_data = 72, .kind_shift = 2, .compact_bit = 5, .ascii_bit = 6},
    .bytes = {.size = 16, .data = 32},
    .tuple = {.size = 16, .items = 24},
    .list = {.size = 16, .items = 24},
    .integer = {.tag = 16, .digits = 24},
    .floating = {.value = 16},
    .dict = {.used = 16, .keys = 32, .values = 40, .keys_size = 8, .keys_log2_size = kAbsent, .keys_log2_index_bytes = kAbsent, .keys_kind = kAbsent, .keys_entry_count = 32, .keys_indices = 40, .values_items = 0},
    .object = {.type = 8, .size = 16},
    .type = {.name = 24, .basic_size = 32, .flags = 168, .dict_offset = 288, .cached_keys = 872},
    .module = {.dict = 16},
    .generator = {.frame = 16, .state = kAbsent, .running = 24, .frame_state = kAbsent, .stack_top = 72, .value_stack = 64},
    .asyncio = {.thread_tasks = kAbsent, .interpreter_tasks = kAbsent},
};
// clang-format on

}  // namespace wf::cpython
