#include "app/python_packages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/fd.h"

namespace wf::app {
namespace {

constexpr int64_t kPatienceNs = 30'000'000'000;
constexpr size_t kLongestAnswer = 1 << 20;

constexpr const char* kScript = R"(
import importlib.metadata as metadata, json, platform
facts = {"version": platform.python_version(), "packages": {}, "workflow_version": "", "workflow_error": ""}
for name in ("cloudpickle", "rich", "numpy", "pandas", "torch", "torchvision", "tensorflow", "dask", "distributed",
             "pyarrow", "prometheus_client", "boto3"):
    try:
        facts["packages"][name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
try:
    import workflow
    facts["workflow_version"] = getattr(workflow, "__version__", "unknown")
except BaseException as error:
    facts["workflow_error"] = f"{type(error).__name__}: {error}"
print("\n" + json.dumps(facts))
)";

struct Child {
  pid_t pid = -1;
  base::Fd output;
};

Result<Child> Start(const std::filesystem::path& python) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Status(Code::kIo, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  Child child;
  child.output = base::Fd(ends[0]);
  const base::Fd write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::string program = python.string();
  std::string flag = "-c";
  std::string script = kScript;
  std::array<char*, 4> argv = {program.data(), flag.data(), script.data(), nullptr};
  const int error = ::posix_spawn(&child.pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Status(Code::kUnavailable, fmt::format("cannot start {}: {}", program, std::strerror(error)));
  return child;
}

// All that the child prints, until it closes its output or time is up.
std::string ReadAll(int fd) {
  std::string text;
  const int64_t until = base::MonotonicNs() + kPatienceNs;
  std::array<char, 4096> buffer{};
  while (text.size() < kLongestAnswer) {
    const int64_t left_ms = (until - base::MonotonicNs()) / 1'000'000;
    if (left_ms <= 0) break;
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left_ms));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
  return text;
}

// The script's answer is the last line: importing packages may print before it.
Result<PythonFacts> Parse(const std::string& text, const std::string& python) {
  const size_t start = text.rfind("\n{");
  const nlohmann::json facts =
      nlohmann::json::parse(start == std::string::npos ? "" : text.substr(start), nullptr, false);
  if (!facts.is_object()) {
    return Status(Code::kUnavailable, fmt::format("{} did not answer; is it a working Python?", python));
  }
  PythonFacts result;
  result.version = facts.value("version", "");
  result.workflow_version = facts.value("workflow_version", "");
  result.workflow_error = facts.value("workflow_error", "");
  const nlohmann::json packages = facts.value("packages", nlohmann::json::object());  // items() does not own it
  for (const auto& [name, version] : packages.items()) {
    if (version.is_string()) result.packages[name] = version.get<std::string>();
  }
  return result;
}

}  // namespace

Result<PythonFacts> AskPython(const std::filesystem::path& python) {
  Result<Child> child = Start(python);
  if (!child.ok()) return child.status();
  const std::string text = ReadAll(child->output.get());
  ::kill(child->pid, SIGKILL);  // our own child; it has answered, or never will
  while (::waitpid(child->pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return Parse(text, python.string());
}

}  // namespace wf::app
