// Completion scripts, made from what the verbs declared, so that they cannot lag behind.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "cli/command_line.h"

namespace wf::cli {
namespace {

struct Flag {
  std::vector<std::string> names;  // with their dashes, the long one first
  std::string help;
  bool takes_value = false;
  bool is_file = false;
  std::vector<std::string> choices;
};

// CLI11 keeps the members of an IsMember check only in its printed form, "{a,b,c}".
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  std::vector<std::string> choices;
  const std::string text = option.get_type_name();
  const size_t open = text.find('{');
  const size_t close = text.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return choices;
  size_t start = open + 1;
  while (start < close) {
    const size_t comma = std::min(text.find(',', start), close);
    choices.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return choices;
}

bool IsFileType(const std::string& type) {
  return type.starts_with("FILE") || type.starts_with("DIR") || type.starts_with("PATH");
}

std::vector<Flag> FlagsOf(const CLI::App& command) {
  std::vector<Flag> flags;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) continue;
    Flag flag;
    for (const std::string& name : option->get_lnames()) flag.names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flag.names.push_back("-" + name);
    flag.help = option->get_description();
    flag.takes_value = option->get_items_expected_max() > 0;
    flag.is_file = IsFileType(option->get_type_name());
    flag.choices = ChoicesOf(*option);
    flags.push_back(std::move(flag));
  }
  return flags;
}

std::vector<std::string> PositionalChoices(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) return ChoicesOf(*option);
  }
  return {};
}

// Text inside single quotes of a shell.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string Words(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

std::string BashValueCases(const CLI::App& command) {
  std::string cases;
  for (const Flag& flag : FlagsOf(command)) {
    if (!flag.takes_value) continue;
    std::string reply = "return";
    if (!flag.choices.empty()) {
      reply = fmt::format("COMPREPLY=($(compgen -W {} -- \"$word\")); return", Quoted(Words(flag.choices)));
    } else if (flag.is_file) {
      reply = "COMPREPLY=($(compgen -f -- \"$word\")); return";
    }
    cases += fmt::format("        {}) {} ;;\n", fmt::join(flag.names, "|"), reply);
  }
  return cases;
}

// A zsh specification may not hold a bare ':' or bracket in its description.
std::string ZshText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshSpec(const Flag& flag, const std::string& name) {
  std::string spec = fmt::format("*{}[{}]", name, ZshText(flag.help));
  if (flag.takes_value) {
    spec += ":value:";
    if (!flag.choices.empty()) spec += "(" + Words(flag.choices) + ")";
    if (flag.is_file) spec += "_files";
  }
  return Quoted(spec);
}

std::string ZshVerb(const CLI::App& command) {
  std::string text = fmt::format("    {})\n      _arguments", command.get_name());
  for (const Flag& flag : FlagsOf(command)) {
    for (const std::string& name : flag.names) text += " \\\n        " + ZshSpec(flag, name);
  }
  const std::vector<std::string> choices = PositionalChoices(command);
  text += " \\\n        " +
          Quoted(choices.empty() ? "*:argument:_files" : fmt::format("*:argument:({})", Words(choices))) +
          "\n      ;;\n";
  return text;
}

}  // namespace

std::string BashCompletions(const CLI::App& root) {
  std::string verbs;
  std::string cases;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    verbs += (verbs.empty() ? "" : " ") + command->get_name();
    std::vector<std::string> names;
    for (const Flag& flag : FlagsOf(*command)) names.insert(names.end(), flag.names.begin(), flag.names.end());
    const std::vector<std::string> choices = PositionalChoices(*command);
    cases += fmt::format(
        "    {})\n"
        "      case \"$previous\" in\n{}      esac\n"
        "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W {} -- \"$word\")); return; fi\n"
        "      COMPREPLY=($(compgen {} -- \"$word\"))\n"
        "      ;;\n",
        command->get_name(), BashValueCases(*command), Quoted(Words(names)),
        choices.empty() ? "-f" : "-W " + Quoted(Words(choices)));
  }
  return fmt::format(
      "# bash completion for wf; made by: wf completions bash\n"
      "_wf() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}}\n"
      "  COMPREPLY=()\n"
      "  if [[ $COMP_CWORD -eq 1 ]]; then COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\")); return; fi\n"
      "  case \"$verb\" in\n{}  esac\n"
      "}}\n"
      "complete -o filenames -F _wf wf\n",
      verbs, cases);
}

std::string ZshCompletions(const CLI::App& root) {
  std::string verbs;
  std::string cases;
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    verbs += "    " + Quoted(ZshText(command->get_name()) + ":" + command->get_description()) + "\n";
    cases += ZshVerb(*command);
  }
  return fmt::format(
      "#compdef wf\n"
      "# zsh completion for wf; made by: wf completions zsh\n"
      "_wf() {{\n"
      "  local -a verbs\n"
      "  verbs=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then _describe -t verbs verb verbs; return; fi\n"
      "  local verb=$words[2]\n"
      "  shift words; (( CURRENT-- ))\n"
      "  case $verb in\n{}  esac\n"
      "}}\n"
      "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _wf \"$@\"; else compdef _wf wf; fi\n",
      verbs, cases);
}

std::string FishCompletions(const CLI::App& root) {
  std::string script =
      "# fish completion for wf; made by: wf completions fish\n"
      "complete -c wf -n __fish_use_subcommand -l version -d 'print the version'\n";
  for (const CLI::App* command : root.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string name = command->get_name();
    script += fmt::format("complete -c wf -n __fish_use_subcommand -f -a {} -d {}\n", name,
                          Quoted(command->get_description()));
    const std::string when = Quoted("__fish_seen_subcommand_from " + name);
    const std::vector<std::string> choices = PositionalChoices(*command);
    if (!choices.empty()) script += fmt::format("complete -c wf -n {} -f -a {}\n", when, Quoted(Words(choices)));
    for (const Flag& flag : FlagsOf(*command)) {
      script += fmt::format("complete -c wf -n {}", when);
      for (const std::string& option : flag.names) {
        script += option.starts_with("--") ? " -l " + option.substr(2) : " -s " + option.substr(1);
      }
      if (flag.takes_value) script += flag.is_file ? " -r -F" : " -x";
      if (!flag.choices.empty()) script += " -a " + Quoted(Words(flag.choices));
      script += " -d " + Quoted(flag.help) + "\n";
    }
  }
  return script;
}

}  // namespace wf::cli
