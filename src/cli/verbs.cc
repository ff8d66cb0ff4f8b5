#include <array>

#include "cli/command_line.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace wf::cli {
namespace {

constexpr std::array kVerbs = {
    Verb{"run", "run a workflow and profile each of its tasks",
         "  wf run pipeline.py --param path=data.csv\n"
         "  wf run pipeline.py:training --executor processes --workers 4 --param epochs=5\n"
         "  wf run pipeline.py --params params.toml --metrics-port 0 --linger 30s\n",
         &DeclareRun},
    Verb{"runs", "list the runs of the store, newest first",
         "  wf runs\n"
         "  wf runs --workflow training --state failed --newer-than 7d\n"
         "  wf runs --json | jq -r '.runs[0].id'\n",
         &DeclareRuns},
    Verb{"show", "show one run: what failed and why, what was skipped, its nodes",
         "  wf show last\n"
         "  wf show tag:commit=0123abc --all\n",
         &DeclareShow},
    Verb{"report", "the table of tasks, the bottleneck and why, what to try",
         "  wf report\n"
         "  wf report last~1 --lang fr\n"
         "  wf report --json | jq '.bottleneck.rule'\n",
         &DeclareReport},
    Verb{"diff", "compare two runs task by task: before, after, ratio",
         "  wf diff last~1 last\n"
         "  wf diff tag:variant=slow tag:variant=fixed\n",
         &DeclareDiff},
    Verb{"logs", "log records and captured output of a run",
         "  wf logs\n"
         "  wf logs last --task train --stream stderr\n",
         &DeclareLogs},
    Verb{"graph", "what depends on what, as text, DOT or Mermaid",
         "  wf graph\n"
         "  wf graph last --format dot | dot -Tsvg > graph.svg\n"
         "  wf graph last --format mermaid --nodes\n",
         &DeclareGraph},
    Verb{"dump", "show what a running Python process does right now, without pausing it",
         "  wf dump -p 1234\n"
         "  wf dump -p 1234 --subprocesses --full-filenames\n"
         "  wf dump -p 1234 --json | jq '.[] | select(.owns_gil)'\n",
         &DeclareDump},
    Verb{"record", "sample a running Python process or a program, without a change to it",
         "  wf record -p 1234 -d 30s -o flame.svg\n"
         "  wf record -o flame.svg -- python train.py --epochs 5\n"
         "  wf record -f speedscope -r 1kHz -t -i -- python -m pytest\n",
         &DeclareRecord, true},
    Verb{"top", "watch the functions that a running Python process, or a program, is in",
         "  wf top -p 1234\n"
         "  wf top -p 1234 --subprocesses --gil\n"
         "  wf top -- python train.py --epochs 5\n",
         &DeclareTop, true},
    Verb{"export", "the recorded stacks of a run as flame graph, speedscope, pprof and more",
         "  wf export last -o flame.svg\n"
         "  wf export last -f speedscope -t -o run.speedscope.json\n"
         "  wf export last~1 -f collapsed -o - | grep decode\n",
         &DeclareExport},
    Verb{"serve", "serve the store over HTTP: /metrics for Prometheus, JSON of its runs",
         "  wf serve\n"
         "  wf serve --port 0\n"
         "  wf serve --address 0.0.0.0 --token-file token\n",
         &DeclareServe},
    Verb{"doctor", "what this machine lets us measure and what to change",
         "  wf doctor\n"
         "  wf doctor --python ~/venv/bin/python\n",
         &DeclareDoctor},
    Verb{"clean", "remove old runs from the store",
         "  wf clean --older-than 30d --dry-run\n"
         "  wf clean --max-size 2GiB --keep 20\n",
         &DeclareClean},
    Verb{"completions", "print the completion script for a shell",
         "  wf completions bash > ~/.local/share/bash-completion/completions/wf\n"
         "  wf completions zsh > \"${fpath[1]}/_wf\"\n"
         "  wf completions fish > ~/.config/fish/completions/wf.fish\n",
         &DeclareCompletions},
};

}  // namespace

std::span<const Verb> Verbs() { return kVerbs; }

void AddJson(Options options, Context& context) {
  options.Flag("--json", &context.json, "print one JSON document with a \"version\" field");
}

void AddStore(Options options, Context& context) {
  options.Text("--store", &context.store, "DIR",
               "the store's folder (else $WF_STORE, else .wf beside workflow.toml, else .wf here)");
}

void AddLanguage(Options options, Context& context) {
  options.Choice("--lang", &context.language, "LANG", "language of the words (else from LANG)", {"en", "fr"});
}

void AddRun(Options options, std::string* run, Need need) {
  *run = "last";
  options.Text("run", run, "RUN", "an id, a unique beginning or ending of one, last, last~N or tag:key=value (last)",
               need);
}

Result<int> PrintAs(const Context& context, const std::function<std::string(const report::Style&)>& text,
                    const std::function<std::string()>& document) {
  const std::string output = context.json ? document() : text(StyleOfOutput(context.language));
  return Print(output) ? kDone : kSetUpBroken;
}

}  // namespace wf::cli
