#include "app/python_environment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "app/self_path.h"

namespace wf::app {
namespace fs = std::filesystem;
namespace {

bool IsProgram(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::optional<fs::path> OnPath(std::string_view name, const std::vector<std::string>& path) {
  for (const std::string& folder : path) {
    fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (IsProgram(candidate)) return candidate;
  }
  return std::nullopt;
}

std::optional<fs::path> Beside(const fs::path& program) {
  if (program.empty()) return std::nullopt;
  for (const char* name : {"python3", "python"}) {
    fs::path candidate = program.parent_path() / name;
    if (IsProgram(candidate)) return candidate;
  }
  return std::nullopt;
}

std::vector<std::string> SplitPath(const char* text) {
  std::vector<std::string> folders;
  if (text == nullptr) return folders;
  std::string_view rest = text;
  while (true) {
    const size_t colon = rest.find(':');
    folders.emplace_back(rest.substr(0, colon));
    if (colon == std::string_view::npos) return folders;
    rest.remove_prefix(colon + 1);
  }
}

// The file behind argv[0]: itself when it names a folder, else as the shell found it.
fs::path InvokedFile(const Surroundings& s) {
  if (s.invoked_as.find('/') != std::string::npos) return s.invoked_as;
  return OnPath(s.invoked_as, s.path).value_or(fs::path());
}

Result<fs::path> Chosen(const Surroundings& s) {
  const bool is_path = s.python_option.find('/') != std::string::npos;
  if (is_path && IsProgram(s.python_option)) return fs::path(s.python_option);
  if (!is_path) {
    if (std::optional<fs::path> found = OnPath(s.python_option, s.path)) return *found;
  }
  return Status(Code::kFailedPrecondition,
                fmt::format("--python {}: there is no such program{}; give the path of a Python in which "
                            "`pip install workflow-v6` was run",
                            s.python_option, is_path ? "" : " on PATH"));
}

}  // namespace

Surroundings ReadSurroundings(std::string_view invoked_as, std::string_view python_option) {
  Surroundings s;
  s.python_option = python_option;
  if (const char* value = std::getenv("VIRTUAL_ENV")) s.virtual_env = value;
  s.self = SelfPath();
  s.invoked_as = invoked_as;
  s.path = SplitPath(std::getenv("PATH"));
  return s;
}

Result<fs::path> FindPython(const Surroundings& s) {
  if (!s.python_option.empty()) return Chosen(s);
  if (!s.virtual_env.empty()) {
    fs::path python = fs::path(s.virtual_env) / "bin" / "python";
    if (IsProgram(python)) return python;
    return Status(Code::kFailedPrecondition,
                  fmt::format("VIRTUAL_ENV is {} but {} is not there; leave that environment (deactivate) or name "
                              "another Python with --python",
                              s.virtual_env, python.string()));
  }
  if (std::optional<fs::path> python = Beside(s.self)) return *python;
  if (std::optional<fs::path> python = Beside(InvokedFile(s))) return *python;
  if (std::optional<fs::path> python = OnPath("python3", s.path)) return *python;
  return Status(Code::kFailedPrecondition,
                fmt::format("no Python was found to run the workflow: VIRTUAL_ENV is not set, there is no python3 "
                            "beside {} and none on PATH; name one with --python",
                            s.self.empty() ? s.invoked_as : s.self.string()));
}

}  // namespace wf::app
