// Where the output goes, and what that allows.
#ifndef WF_CLI_TERMINAL_H_
#define WF_CLI_TERMINAL_H_

#include <string>

#include "report/style.h"

namespace wf::cli {

// Colour and width only when standard output is a terminal; no colour with NO_COLOR set or TERM=dumb
// (https://no-color.org). `language`: "en", "fr", or empty for LC_ALL, LC_MESSAGES, LANG, in this order.
report::Style StyleOfOutput(const std::string& language);

// Whether TERM describes a terminal on whose screen a cursor can be moved about.
bool CanMoveCursor();
}  // namespace wf::cli

#endif  // WF_CLI_TERMINAL_H_
