// Layout of CPython 3.11, printed by tools/cpython_layouts from the headers of 3.11.7; do not edit.
#include "cpython/layout.h"

namespace wf::cpython {

// clang-format off
constexpr Layout kLayout3_11 = {
    .minor = 11,
    .runtime = {.interpreters_head = 40, .gil = 360},
    .interpreter = {.id = 48, .next = 0, .threads_head = 16, .gil = kAbsent, .modules = 888, .code_counter = kAbsent, .collecting_frame = kAbsent},
    .gil = {.last_holder = 8, .locked = 16, .switch_number = 24},
    .thread = {.next = 8, .interpreter = 16, .frame = kAbsent, .cframe = 56, .thread_id = 152, .native_thread_id = 160, .id = 240, .datastack_chunk = 296, .datastack_top = 304, .size = 360},
    .cframe = {.current_frame = 8, .previous = 16},
    .frame = {.previous = 48, .code = 32, .instruction = 56, .owner = 69, .locals = 72, .size = 80, .instruction_bytes = kAbsent, .first_shim = kAbsent, .is_entry = 68},
    .code = {.units = 16, .first_line = 72, .name = 120, .qualname = 128, .filename = 112, .line_table = 136, .version = kAbsent, .first_traceable = 168, .instructions = 184, .local_names = 96, .local_kinds = 104, .argument_count = 56, .keyword_only_count = 64, .flags = 48, .size = 192},
    .unicode = {.length = 16, .hash = 24, .state = 32, .ascii_data = 48, .compact_data = 72, .any_data = 72, .kind_shift = 2, .compact_bit = 5, .ascii_bit = 6},
    .bytes = {.size = 16, .data = 32},
    .tuple = {.size = 16, .items = 24},
    .list = {.size = 16, .items = 24},
    .integer = {.tag = 16, .digits = 24},
    .floating = {.value = 16},
    .dict = {.used = 16, .keys = 32, .values = 40, .keys_size = kAbsent, .keys_log2_size = 8, .keys_log2_index_bytes = 9, .keys_kind = 10, .keys_entry_count = 24, .keys_indices = 32, .values_items = 0},
    .object = {.type = 8, .size = 16},
    .type = {.name = 24, .basic_size = 32, .flags = 168, .dict_offset = 288, .cached_keys = 872},
    .module = {.dict = 16},
    .generator = {.frame = 80, .state = 75, .running = kAbsent, .frame_state = kAbsent, .stack_top = 64, .value_stack = kAbsent},
    .asyncio = {.thread_tasks = kAbsent, .interpreter_tasks = kAbsent},
};
// clang-format on

}  // namespace wf::cpython
