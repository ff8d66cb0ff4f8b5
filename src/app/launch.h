// `wf run`: checks what was asked for and becomes the Python that runs it.
#ifndef WF_APP_LAUNCH_H_
#define WF_APP_LAUNCH_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "wf/status.h"

namespace wf::app {

// What `wf run` passes on. Empty and nullopt: not given, so that environment, decorator, file and built-in values
// decide, in this order, on the Python side.
struct RunRequest {
  std::string target;  // the file
  std::string workflow;
  std::map<std::string, std::string> params;  // as typed; Python gives them the types of the signature
  std::string params_file;                    // .json or .toml
  std::string executor;
  std::optional<int32_t> workers;
  std::string mode;
  std::string store;
  std::optional<int32_t> metrics_port;
  std::string metrics_address = "127.0.0.1";
  std::string token_file;
  double linger_s = 0;
  std::map<std::string, std::string> tags;
  bool quiet = false;
  bool json = false;
  std::string metrics_namespace;
  std::optional<double> stack_rate_hz;  // 0: no stacks
  std::string sampler;                  // the file of `wf` itself, which samples them
};

// "pipeline.py:training" -> file and workflow; a file whose own name holds the colon wins.
void SplitTarget(const std::string& text, RunRequest* request);

// Refuses what can be seen to be wrong before Python starts: kInvalidArgument, one sentence.
Status Validate(const RunRequest& request);

// The one argument of `python -m workflow._launch`.
std::string LaunchDocument(const RunRequest& request);

// Replaces this process by what `python -m workflow._launch <document>` is: same pid, same descriptors. Returns only on
// failure. A Python that cannot import workflow exits with 3 and says so.
Status ExecWorkflow(const std::filesystem::path& python, const RunRequest& request);

// True for addresses that only this machine can reach; servers need a token everywhere else.
bool IsLoopback(std::string_view address);

}  // namespace wf::app

#endif  // WF_APP_LAUNCH_H_
