#include <memory>

#include "cli/command_line.h"
#include "cli/verb.h"

namespace wf::cli {

Action DeclareCompletions(CLI::App& command, Context& context) {
  auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [shell, &context]() -> Result<int> {
    const std::string script = *shell == "bash"  ? BashCompletions(*context.root)
                               : *shell == "zsh" ? ZshCompletions(*context.root)
                                                 : FishCompletions(*context.root);
    return Print(script) ? kDone : kSetUpBroken;
  };
}

}  // namespace wf::cli
