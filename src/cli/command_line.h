// The command line as a whole: parses, runs one verb, translates its outcome to an exit code.
#ifndef WF_CLI_COMMAND_LINE_H_
#define WF_CLI_COMMAND_LINE_H_

#include <string>
#include <string_view>

#include "cli/verb.h"

namespace wf::cli {

// Runs `wf` with these arguments and returns the exit code. Prints to standard output and standard error. The only
// place that catches: CLI11 reports wrong usage by exceptions.
int Main(int argc, const char* const* argv);

// 2 for wrong usage or input, 3 for everything that is broken, missing or not permitted.
int ExitCodeOf(const Status& status);

// Writes to standard output. False when that failed: quietly if the reader is gone (`wf runs | head`), with a line on
// standard error otherwise.
bool Print(std::string_view text);

// Shell scripts made from the verbs and options that `root` declares.
std::string BashCompletions(const CLI::App& root);
std::string ZshCompletions(const CLI::App& root);
std::string FishCompletions(const CLI::App& root);

}  // namespace wf::cli

#endif  // WF_CLI_COMMAND_LINE_H_
