// Where the command line of a program begins that a verb launches: `wf record -r 200 python app.py -r 5`.
#ifndef WF_CLI_PROGRAM_WORDS_H_
#define WF_CLI_PROGRAM_WORDS_H_

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace wf::cli {

// How many of `words`, which follow the verb, are the verb's own: up to "--" or to the first one that is neither an
// option nor an option's value. All after that belongs to the program, whatever it looks like.
size_t OwnWords(const CLI::App& command, std::span<const char* const> words);

// The rest, without a "--" in front.
std::vector<std::string> ProgramWords(std::span<const char* const> rest);

}  // namespace wf::cli

#endif  // WF_CLI_PROGRAM_WORDS_H_
