#include "app/launch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

namespace wf::app {
namespace fs = std::filesystem;
namespace {

Status Invalid(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }

bool IsIdentifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  // Bytes above 127 are part of some letter of a UTF-8 identifier; Python decides about those.
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
  });
}

Status CheckReadable(std::string_view what, const std::string& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return Invalid(fmt::format("{} {}: no such file", what, file));
  if (fs::is_directory(file, error)) return Invalid(fmt::format("{} {}: is a folder, a file is needed", what, file));
  if (::access(file.c_str(), R_OK) != 0) {
    return Status(Code::kPermissionDenied, fmt::format("{} {}: {}", what, file, std::strerror(errno)));
  }
  return Status();
}

Status CheckMetricsFlags(const RunRequest& request) {
  if (!request.token_file.empty()) WF_RETURN_IF_ERROR(CheckReadable("--token-file", request.token_file));
  if (!IsLoopback(request.metrics_address) && request.token_file.empty()) {
    return Invalid(
        fmt::format("--metrics-address {}: other machines could read the metrics; give --token-file FILE as "
                    "well, or stay on 127.0.0.1",
                    request.metrics_address));
  }
  if (!request.metrics_namespace.empty() && !IsIdentifier(request.metrics_namespace)) {
    return Invalid(fmt::format("--namespace {}: letters, digits and '_' only, beginning with a letter",
                               request.metrics_namespace));
  }
  return Status();
}

// What Python runs in place of `-m workflow._launch`. The current folder is taken off its path: a user's
// own workflow.py there must not hide the package. A Python without the package gets a sentence, not a traceback.
constexpr const char* kBoot = R"(
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
try:
    from workflow._launch import run
except ImportError as error:
    sys.stderr.write(f"wf: {sys.executable} cannot import workflow: {error}; install it there "
                     "(pip install workflow-v6) or name another Python with --python\n")
    sys.exit(3)
run()
)";

nlohmann::json OrNull(const std::string& text) { return text.empty() ? nlohmann::json() : nlohmann::json(text); }

nlohmann::json OrNull(const std::optional<int32_t>& value) { return value ? nlohmann::json(*value) : nlohmann::json(); }

}  // namespace

void SplitTarget(const std::string& text, RunRequest* request) {
  request->target = text;
  request->workflow.clear();
  const size_t colon = text.rfind(':');
  std::error_code error;
  if (colon == std::string::npos || fs::exists(text, error)) return;
  request->target = text.substr(0, colon);
  request->workflow = text.substr(colon + 1);
}

bool IsLoopback(std::string_view address) {
  return address == "localhost" || address == "::1" || address.substr(0, 4) == "127.";
}

Status Validate(const RunRequest& request) {
  WF_RETURN_IF_ERROR(CheckReadable("workflow file", request.target));
  if (!request.params_file.empty()) {
    WF_RETURN_IF_ERROR(CheckReadable("--params", request.params_file));
    const std::string extension = fs::path(request.params_file).extension();
    if (extension != ".json" && extension != ".toml") {
      return Invalid(fmt::format("--params {}: the name must end in .json or .toml", request.params_file));
    }
  }
  for (const auto& [name, value] : request.params) {
    if (!IsIdentifier(name)) return Invalid(fmt::format("--param {}={}: '{}' is no parameter name", name, value, name));
  }
  std::error_code error;
  if (!request.store.empty() && fs::exists(request.store, error) && !fs::is_directory(request.store, error)) {
    return Invalid(fmt::format("--store {}: is a file, a folder is needed", request.store));
  }
  return CheckMetricsFlags(request);
}

std::string LaunchDocument(const RunRequest& request) {
  nlohmann::json document = {
      {"version", 1},
      {"target", request.target},
      {"workflow", OrNull(request.workflow)},
      {"params", request.params},
      {"params_file", OrNull(request.params_file)},
      {"executor", OrNull(request.executor)},
      {"workers", OrNull(request.workers)},
      {"mode", OrNull(request.mode)},
      {"store", OrNull(request.store)},
      {"metrics_port", OrNull(request.metrics_port)},
      {"metrics_address", request.metrics_address},
      {"token_file", OrNull(request.token_file)},
      {"linger_s", request.linger_s},
      {"tags", request.tags},
      {"quiet", request.quiet},
      {"json", request.json},
      {"namespace", OrNull(request.metrics_namespace)},
      {"stack_rate", request.stack_rate_hz ? nlohmann::json(*request.stack_rate_hz) : nlohmann::json()},
      {"sampler", request.sampler},
  };
  // Bytes that are not UTF-8 (file names may hold any) are replaced rather than thrown about.
  return document.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

Status ExecWorkflow(const fs::path& python, const RunRequest& request) {
  std::string program = python.string();
  std::string document = LaunchDocument(request);
  std::string flag = "-c";
  std::string boot = kBoot;
  std::array<char*, 5> argv = {program.data(), flag.data(), boot.data(), document.data(), nullptr};
  ::execv(program.c_str(), argv.data());
  if (errno == E2BIG) {
    return Status(Code::kInvalidArgument,
                  "the parameters are longer than the system allows on a command line; put them into a file and give "
                  "--params FILE");
  }
  return Status(Code::kFailedPrecondition, fmt::format("cannot start {}: {}", program, std::strerror(errno)));
}

}  // namespace wf::app
