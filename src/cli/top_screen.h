// The terminal as the screen of `wf top`.
#ifndef WF_CLI_TOP_SCREEN_H_
#define WF_CLI_TOP_SCREEN_H_

#include <memory>

#include "app/top.h"

namespace wf::cli {

// Null when standard output is no terminal, there is none to read keys from (standard input, else the controlling
// terminal), or TERM names none on which a cursor can be moved. One at a time in a process.
std::unique_ptr<app::TopScreen> MakeTopScreen();

}  // namespace wf::cli

#endif  // WF_CLI_TOP_SCREEN_H_
