// Verb: one word after `wf`, a file each, behind one interface.
//
// A verb declares its options on a CLI::App and returns the action to take once they are parsed. The action asks `app`
// and prints through `report`; it returns the exit code, or a Status that Main translates.
#ifndef WF_CLI_VERB_H_
#define WF_CLI_VERB_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "wf/status.h"

namespace wf::cli {

// Exit codes of verbs; part of the interface, see docs/cli.md.
enum Exit : int { kDone = 0, kAnswerIsNo = 1, kWrongUsage = 2, kSetUpBroken = 3 };

// What all verbs share while they run. Lives as long as the command.
struct Context {
  std::string program;  // argv[0]
  bool json = false;    // --json was given
  std::string store;    // --store, empty when not given
  CLI::App* root = nullptr;
};

using Action = std::function<Result<int>()>;

struct Verb {
  std::string_view name;
  std::string_view summary;   // one line of `wf --help`
  std::string_view examples;  // shown under the options of `wf VERB --help`
  Action (*declare)(CLI::App& command, Context& context);
};

// All verbs in the order of `wf --help`.
std::span<const Verb> Verbs();

// Flags that several verbs have.
void AddJson(CLI::App& command, Context& context);
void AddStore(CLI::App& command, Context& context);

// The verbs, one per file.
Action DeclareRun(CLI::App& command, Context& context);
Action DeclareCompletions(CLI::App& command, Context& context);

}  // namespace wf::cli

#endif  // WF_CLI_VERB_H_
