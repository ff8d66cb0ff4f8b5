#include "cli/program_words.h"

#include <CLI/CLI.hpp>
#include <string_view>

namespace wf::cli {
namespace {

bool TakesValue(const CLI::App& command, const std::string& name) {
  const CLI::Option* option = command.get_option_no_throw(name);
  return option != nullptr && option->get_items_expected_max() > 0;
}

// Whether the next word is a value of this one: "--rate" or "-ir", but neither "--rate=5" nor "-r5".
bool WantsNext(const CLI::App& command, std::string_view word) {
  if (word.starts_with("--")) return TakesValue(command, std::string(word));
  for (size_t i = 1; i < word.size(); ++i) {
    if (TakesValue(command, std::string("-") + word[i])) return i + 1 == word.size();
  }
  return false;
}

}  // namespace

size_t OwnWords(const CLI::App& command, std::span<const char* const> words) {
  size_t count = 0;
  while (count < words.size()) {
    const std::string_view word = words[count];
    if (word == "--" || !word.starts_with('-') || word == "-") break;
    count += WantsNext(command, word) ? 2 : 1;
  }
  return std::min(count, words.size());
}

std::vector<std::string> ProgramWords(std::span<const char* const> rest) {
  if (!rest.empty() && std::string_view(rest[0]) == "--") rest = rest.subspan(1);
  return {rest.begin(), rest.end()};
}

}  // namespace wf::cli
