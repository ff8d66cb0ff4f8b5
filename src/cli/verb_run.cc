#include <fmt/format.h>

#include <limits>
#include <memory>
#include <vector>

#include "app/launch.h"
#include "app/python_environment.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace wf::cli {
namespace {

struct RunOptions {
  app::RunRequest request;
  std::string target;
  std::vector<std::string> params;
  std::vector<std::string> tags;
  std::string linger;
  std::string python;
};

Status FillMap(const char* flag, const std::vector<std::string>& given, std::map<std::string, std::string>* into) {
  for (const std::string& text : given) {
    auto pair = ParseKeyValue(flag, text);
    if (!pair.ok()) return pair.status();
    if (!into->insert(*pair).second) {
      return Status(Code::kInvalidArgument, fmt::format("{} {}: given twice", flag, pair->first));
    }
  }
  return Status();
}

Result<int> Act(const std::shared_ptr<RunOptions>& options, const Context& context) {
  app::RunRequest& request = options->request;
  app::SplitTarget(options->target, &request);
  request.store = context.store;
  request.json = context.json;
  WF_RETURN_IF_ERROR(FillMap("--param", options->params, &request.params));
  WF_RETURN_IF_ERROR(FillMap("--tag", options->tags, &request.tags));
  if (!options->linger.empty()) {
    const Result<int64_t> linger = ParseDuration(options->linger);
    if (!linger.ok()) return linger.status().WithContext("--linger");
    request.linger_s = static_cast<double>(*linger) / 1e9;
  }
  WF_RETURN_IF_ERROR(app::Validate(request));
  Result<std::filesystem::path> python = app::FindPython(app::ReadSurroundings(context.program, options->python));
  if (!python.ok()) return python.status();
  return app::ExecWorkflow(*python, request);
}

void AddMetricsOptions(CLI::App& command, RunOptions& options) {
  app::RunRequest& request = options.request;
  command.add_option("--metrics-port", request.metrics_port, "serve /metrics during the run; 0 takes a free port")
      ->type_name("N")
      ->check(CLI::Range(0, 65535));
  command.add_option("--metrics-address", request.metrics_address, "address to serve on (127.0.0.1)")->type_name("A");
  command.add_option("--token-file", request.token_file, "file with the token that scrapers must send")
      ->type_name("FILE");
  command.add_option("--linger", options.linger, "keep serving so long after the end, for a last scrape (30s, 5m)")
      ->type_name("DURATION");
  command.add_option("--namespace", request.metrics_namespace, "prefix of all metric names")->type_name("NS");
}

}  // namespace

Action DeclareRun(CLI::App& command, Context& context) {
  auto options = std::make_shared<RunOptions>();
  app::RunRequest& request = options->request;
  command.add_option("target", options->target, "the Python file; :WORKFLOW when it holds several")
      ->required()
      ->type_name("FILE[:WORKFLOW]");
  command.add_option("--param,-p", options->params, "a parameter of the workflow; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--params", request.params_file, "parameters from a .json or .toml file")->type_name("FILE");
  command.add_option("--executor", request.executor, "inline, threads, processes or async")
      ->type_name("KIND")
      ->check(CLI::IsMember({"inline", "threads", "processes", "async"}));
  command.add_option("--workers", request.workers, "how many tasks run at once")
      ->type_name("N")
      ->check(CLI::Range(1, 65536));
  command.add_option("--mode", request.mode, "how much is profiled: always, sample or off")
      ->type_name("MODE")
      ->check(CLI::IsMember({"always", "sample", "off"}));
  AddStore(command, context);
  AddMetricsOptions(command, *options);
  command.add_option("--tag", options->tags, "a tag of the run, to find it again; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--python", options->python, "the Python to run it with")->type_name("PATH");
  command.add_flag("--quiet,-q", request.quiet, "print errors and the user's own output only");
  AddJson(command, context);
  return [options, &context] { return Act(options, context); };
}

}  // namespace wf::cli
