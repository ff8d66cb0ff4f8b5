// term.h defines macros for words such as "lines" and "columns": nothing else of ours is in this file.
#include <curses.h>

#include "cli/terminal.h"
// needs curses.h before it
#include <term.h>
#include <unistd.h>

#include <cstdint>

namespace wf::cli {

bool CanMoveCursor() {
  int error = 0;
  if (::setupterm(nullptr, STDOUT_FILENO, &error) != OK) return false;
  const auto has = [](const char* name) {
    const char* value = ::tigetstr(name);
    return value != nullptr && reinterpret_cast<intptr_t>(value) != -1;  // -1: it is no string
  };
  const bool can_move = has("cup") && has("clear");
  ::del_curterm(cur_term);
  return can_move;
}

}  // namespace wf::cli
