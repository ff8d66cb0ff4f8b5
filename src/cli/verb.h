// Verb: one word after `wf`, a file each, behind one interface.
//
// A verb declares its options and returns the action to take once they are parsed. The action asks `app` and prints
// through `report`; it returns the exit code, or a Status that Main translates.
#ifndef WF_CLI_VERB_H_
#define WF_CLI_VERB_H_

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "report/style.h"
#include "wf/status.h"

namespace wf::cli {

// Exit codes of verbs; part of the interface, see docs/cli.md.
enum Exit : int { kDone = 0, kAnswerIsNo = 1, kWrongUsage = 2, kSetUpBroken = 3 };

// What all verbs share while they run. Lives as long as the command.
struct Context {
  std::string program;                     // argv[0]
  bool json = false;                       // --json was given
  std::string store;                       // --store, empty when not given
  std::string language;                    // --lang, empty when not given
  std::vector<std::string> program_words;  // of a verb that launches: the program and its arguments
  const CLI::App* root = nullptr;          // all verbs with their options
};

using Action = std::function<Result<int>()>;

struct Verb {
  std::string_view name;
  std::string_view summary;   // one line of `wf --help`
  std::string_view examples;  // shown under the options of `wf VERB --help`
  Action (*declare)(Options options, Context& context);
  bool launches = false;  // what follows its options is a program with arguments: Context::program_words
};

// All verbs in the order of `wf --help`.
std::span<const Verb> Verbs();

// Options that several verbs have.
void AddJson(Options options, Context& context);
void AddStore(Options options, Context& context);
void AddLanguage(Options options, Context& context);
// The positional RUN; `run` holds "last" until one is given.
void AddRun(Options options, std::string* run, Need need = Need::kOptional);

// Prints the text or, with --json, the document.
Result<int> PrintAs(const Context& context, const std::function<std::string(const report::Style&)>& text,
                    const std::function<std::string()>& document);

// The verbs, one per file.
Action DeclareClean(Options options, Context& context);
Action DeclareCompletions(Options options, Context& context);
Action DeclareDiff(Options options, Context& context);
Action DeclareDoctor(Options options, Context& context);
Action DeclareDump(Options options, Context& context);
Action DeclareExport(Options options, Context& context);
Action DeclareGraph(Options options, Context& context);
Action DeclareLogs(Options options, Context& context);
Action DeclareRecord(Options options, Context& context);
Action DeclareReport(Options options, Context& context);
Action DeclareRun(Options options, Context& context);
Action DeclareRuns(Options options, Context& context);
Action DeclareServe(Options options, Context& context);
Action DeclareShow(Options options, Context& context);
Action DeclareTop(Options options, Context& context);

}  // namespace wf::cli

#endif  // WF_CLI_VERB_H_
