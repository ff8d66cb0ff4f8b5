// Options: how a verb declares its options. Hides the parsing library, which takes seconds to compile, from the verbs.
//
//   options.Text("--task", &request->task, "NAME", "only of this task");
//
// What is pointed to must live until the command has run. Names are given as "--long", "--long,-s", or without dashes
// for a positional.
#ifndef WF_CLI_OPTIONS_H_
#define WF_CLI_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace wf::cli {

enum class Need { kOptional, kRequired };

class Options {
 public:
  explicit Options(CLI::App& command) : command_(command) {}

  // `type` is what the help calls the value: FILE, DIR and PATH are completed as such by shells.
  void Text(const char* names, std::string* into, const char* type, const char* help, Need need = Need::kOptional);
  // May be repeated; each takes one value.
  void Texts(const char* names, std::vector<std::string>* into, const char* type, const char* help);
  void Choice(const char* names, std::string* into, const char* type, const char* help,
              const std::vector<std::string>& choices, Need need = Need::kOptional);
  void Flag(const char* names, bool* into, const char* help);
  // How often it is given.
  void Count(const char* names, int* into, const char* help);
  // `into`: an integer or an optional of one.
  template <typename T>
  void Number(const char* names, T* into, const char* help, int64_t least = 0,
              int64_t most = std::numeric_limits<int32_t>::max()) {
    AddNumber(names, [into](int64_t value) { *into = static_cast<ValueOf<T>>(value); }, help, least, most);
  }

 private:
  template <typename T>
  struct Value {
    using type = T;
  };
  template <typename T>
    requires requires { typename T::value_type; }
  struct Value<T> {
    using type = typename T::value_type;
  };
  template <typename T>
  using ValueOf = typename Value<T>::type;

  void AddNumber(const char* names, const std::function<void(int64_t)>& set, const char* help, int64_t least,
                 int64_t most);

  CLI::App& command_;
};

}  // namespace wf::cli

#endif  // WF_CLI_OPTIONS_H_
