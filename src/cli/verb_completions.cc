#include <memory>

#include "cli/command_line.h"
#include "cli/verb.h"

namespace wf::cli {

Action DeclareCompletions(Options options, Context& context) {
  auto shell = std::make_shared<std::string>();
  options.Choice("shell", shell.get(), "SHELL", "bash, zsh or fish", {"bash", "zsh", "fish"}, Need::kRequired);
  return [shell, &context]() -> Result<int> {
    const std::string script = *shell == "bash"  ? BashCompletions(*context.root)
                               : *shell == "zsh" ? ZshCompletions(*context.root)
                                                 : FishCompletions(*context.root);
    return Print(script) ? kDone : kSetUpBroken;
  };
}

}  // namespace wf::cli
