#include <array>

#include "cli/verb.h"

namespace wf::cli {
namespace {

constexpr std::array kVerbs = {
    Verb{"run", "run a workflow and profile each of its tasks",
         "  wf run pipeline.py --param path=data.csv\n"
         "  wf run pipeline.py:training --executor processes --workers 4 --param epochs=5\n"
         "  wf run pipeline.py --params params.toml --metrics-port 0 --linger 30s\n",
         &DeclareRun},
    Verb{"completions", "print the completion script for a shell",
         "  wf completions bash > ~/.local/share/bash-completion/completions/wf\n"
         "  wf completions zsh > \"${fpath[1]}/_wf\"\n"
         "  wf completions fish > ~/.config/fish/completions/wf.fish\n",
         &DeclareCompletions},
};

}  // namespace

std::span<const Verb> Verbs() { return kVerbs; }

void AddJson(CLI::App& command, Context& context) {
  command.add_flag("--json", context.json, "print one JSON document with a \"version\" field");
}

void AddStore(CLI::App& command, Context& context) {
  command
      .add_option("--store", context.store,
                  "the store's folder (else $WF_STORE, else .wf beside workflow.toml, else .wf here)")
      ->type_name("DIR");
}

}  // namespace wf::cli
