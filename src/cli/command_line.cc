#include "cli/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/sample_run.h"
#include "base/say.h"
#include "base/version.h"
#include "cli/program_words.h"

namespace wf::cli {
namespace {

constexpr std::string_view kDescription =
    "Workflow runs AI and data pipelines as graphs of tasks and tells where the time goes.";
constexpr std::string_view kFooter =
    "A first session:\n"
    "  wf run pipeline.py --param path=data.csv\n"
    "  wf report                       the table of tasks, the bottleneck and what to try\n"
    "  wf diff last~1 last             what changed since the run before\n"
    "\nRUN is a whole run id, a unique beginning or ending of one, last, last~N, or tag:key=value.\n"
    "Exit codes: 0 done, 1 the answer is no, 2 wrong usage, 3 set-up broken or data missing.\n";

// How many letters must be added, taken away or changed to make `b` of `a`.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row[b.size()];
}

std::string UnknownVerb(std::string_view word) {
  std::string message = fmt::format("'{}' is no verb of wf", word);
  const auto verbs = Verbs();
  const auto nearest = std::min_element(verbs.begin(), verbs.end(), [&](const Verb& a, const Verb& b) {
    return Distance(word, a.name) < Distance(word, b.name);
  });
  if (Distance(word, nearest->name) <= 2) message += fmt::format("; did you mean '{}'?", nearest->name);
  return message + " (wf --help lists them)";
}

void Complain(const Context& context, std::string_view code, const std::string& message) {
  if (context.json) {
    const nlohmann::json document = {{"version", 1}, {"error", {{"code", code}, {"message", message}}}};
    Print(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }
  base::Say(message);
}

// The first argument that is no option, when it names no verb.
const char* StrayVerb(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    for (const Verb& verb : Verbs()) {
      if (verb.name == argv[i]) return nullptr;
    }
    return argv[i];
  }
  return nullptr;
}

int WrongUsage(const CLI::ParseError& error, const Context& context, int argc, const char* const* argv) {
  const std::vector<CLI::App*> chosen = context.root->get_subcommands();
  std::string message = error.what();
  if (chosen.empty()) {
    if (const char* stray = StrayVerb(argc, argv)) message = UnknownVerb(stray);
  } else {
    message = fmt::format("{}: {} (wf {} --help shows how)", chosen[0]->get_name(), message, chosen[0]->get_name());
  }
  Complain(context, "invalid argument", message);
  return kWrongUsage;
}

// The exit code for what CLI11 threw: --help and --version are no errors.
int Translate(const CLI::ParseError& error, const Context& context, int argc, const char* const* argv) {
  if (dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr) {
    return Print(fmt::format("wf {}\n", Version())) ? kDone : kSetUpBroken;
  }
  if (dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr) {
    return Print(context.root->help()) ? kDone : kSetUpBroken;
  }
  return WrongUsage(error, context, argc, argv);
}

std::map<const CLI::App*, Action> Declare(CLI::App& root, Context& context) {
  std::map<const CLI::App*, Action> actions;
  for (const Verb& verb : Verbs()) {
    CLI::App* command = root.add_subcommand(std::string(verb.name), std::string(verb.summary));
    command->footer("Examples:\n" + std::string(verb.examples));
    actions[command] = verb.declare(Options(*command), context);
  }
  return actions;
}

// Parses the words of `wf`; what belongs to a program that the verb launches is put into the context instead.
void Parse(CLI::App& root, Context& context, std::span<const char* const> words) {
  std::vector<std::string> own(words.begin() + 1, words.end());
  for (const Verb& verb : Verbs()) {
    if (own.empty() || !verb.launches || own[0] != verb.name) continue;
    const std::span<const char* const> behind = words.subspan(2);
    const size_t count = OwnWords(*root.get_subcommand(own[0]), behind);
    context.program_words = ProgramWords(behind.subspan(count));
    own.resize(1 + count);
  }
  std::reverse(own.begin(), own.end());  // as the library wants them
  root.parse(std::move(own));
}

}  // namespace

int ExitCodeOf(const Status& status) {
  if (status.ok()) return kDone;
  return status.code() == Code::kInvalidArgument ? kWrongUsage : kSetUpBroken;
}

bool Print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      if (errno != EPIPE) base::Say(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
      return false;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

int Main(int argc, const char* const* argv) {
  if (argc == 3 && argv[1] == app::kSampleRunWord) return app::SampleRun(argv[2]);
  CLI::App root{std::string(kDescription), "wf"};
  Context context;
  context.program = argc > 0 ? argv[0] : "wf";
  context.root = &root;
  root.set_version_flag("--version", std::string(Version()), "print the version");
  root.footer(std::string(kFooter));
  root.require_subcommand(1);
  const std::map<const CLI::App*, Action> actions = Declare(root, context);
  if (argc <= 1) return Print(root.help()) ? kWrongUsage : kSetUpBroken;
  try {
    Parse(root, context, {argv, static_cast<size_t>(argc)});
  } catch (const CLI::ParseError& error) {
    return Translate(error, context, argc, argv);
  }
  const Result<int> code = actions.at(root.get_subcommands()[0])();
  if (code.ok()) return *code;
  Complain(context, CodeName(code.status().code()), code.status().message());
  return ExitCodeOf(code.status());
}

}  // namespace wf::cli
