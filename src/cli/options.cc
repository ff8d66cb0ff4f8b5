#include "cli/options.h"

#include <CLI/CLI.hpp>

namespace wf::cli {

void Options::Text(const char* names, std::string* into, const char* type, const char* help, Need need) {
  command_.add_option(names, *into, help)->type_name(type)->required(need == Need::kRequired);
}

void Options::Texts(const char* names, std::vector<std::string>* into, const char* type, const char* help) {
  command_.add_option(names, *into, help)->type_name(type)->allow_extra_args(false);
}

void Options::Choice(const char* names, std::string* into, const char* type, const char* help,
                     const std::vector<std::string>& choices, Need need) {
  command_.add_option(names, *into, help)
      ->type_name(type)
      ->check(CLI::IsMember(choices))
      ->required(need == Need::kRequired);
}

void Options::Flag(const char* names, bool* into, const char* help) { command_.add_flag(names, *into, help); }

void Options::Count(const char* names, int* into, const char* help) { command_.add_flag(names, *into, help); }

void Options::AddNumber(const char* names, const std::function<void(int64_t)>& set, const char* help, int64_t least,
                        int64_t most) {
  command_.add_option_function<int64_t>(names, set, help)
      ->type_name("N")
      ->check(CLI::Range(least, most).description(""));
}

}  // namespace wf::cli
