// Layout of CPython 3.15, printed by tools/cpython_layouts from the headers of 3.15.2; do not edit.
#include "cpython/layout.h"

namespace wf::cpython {

// clang-format off
constexpr Layout kLayout3_15 = {
    .minor = 15,
    .runtime = {.interpreters_head = 936, .gil = kAbsent},
    .interpreter = {.id = 7272, .next = 7264, .threads_head = 7336, .gil = 16, .modules = 7592, .code_counter = 14264, .collecting_frame = 7520},
    .gil = {.last_holder = 8, .locked = 16, .switch_number = 24},
    .thread = {.next = 8, .interpreter = 16, .frame = 72, .cframe = kAbsent, .thread_id = 176, .native_thread_id = 184, .id = 248, .datastack_chunk = 256, .datastack_top = 264, .size = 888},
    .cframe = {.current_frame = kAbsent, .previous = kAbsent},
    .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 74, .locals = 80, .size = 88, .instruction_bytes = kAbsent, .first_shim = 3, .is_entry = kAbsent},
    .code = {.units = 16, .first_line = 68, .name = 120, .qualname = 128, .filename = 112, .line_table = 136, .version = 92, .first_traceable = 192, .instructions = 208, .local_names = 96, .local_kinds = 104, .argument_count = 52, .keyword_only_count = 60, .flags = 48, .size = 216},
    .unicode = {.length = 16, .hash = 24, .state = 32, .ascii_data = 40, .compact_data = 56, .any_data = 56, .kind_shift = 2, .compact_bit = 5, .ascii_bit = 6},
    .bytes = {.size = 16, .data = 32},
    .tuple = {.size = 16, .items = 32},
    .list = {.size = 16, .items = 24},
    .integer = {.tag = 16, .digits = 24},
    .floating = {.value = 16},
    .dict = {.used = 16, .keys = 32, .values = 40, .keys_size = kAbsent, .keys_log2_size = 8, .keys_log2_index_bytes = 9, .keys_kind = 10, .keys_entry_count = 24, .keys_indices = 32, .values_items = 8},
    .object = {.type = 8, .size = 16},
    .type = {.name = 24, .basic_size = 32, .flags = 168, .dict_offset = 288, .cached_keys = 888},
    .module = {.dict = 16},
    .generator = {.frame = 72, .state = 67, .running = kAbsent, .frame_state = kAbsent, .stack_top = 64, .value_stack = kAbsent},
    .asyncio = {.thread_tasks = 1048, .interpreter_tasks = 10856},
};
// clang-format on

}  // namespace wf::cpython
