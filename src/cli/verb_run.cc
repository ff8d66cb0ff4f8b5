#include <fmt/format.h>

#include <limits>
#include <memory>
#include <vector>

#include "app/launch.h"
#include "app/python_environment.h"
#include "app/self_path.h"
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
  std::string stack_rate;
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
  if (!options->stack_rate.empty()) {
    const Result<double> rate = options->stack_rate == "0" ? 0.0 : ParseRate(options->stack_rate);
    if (!rate.ok()) return rate.status().WithContext("--stack-rate");
    request.stack_rate_hz = *rate;
  }
  request.sampler = app::SelfPath().string();
  WF_RETURN_IF_ERROR(app::Validate(request));
  Result<std::filesystem::path> python = app::FindPython(app::ReadSurroundings(context.program, options->python));
  if (!python.ok()) return python.status();
  return app::ExecWorkflow(*python, request);
}

void AddMetricsOptions(Options options, RunOptions* given) {
  app::RunRequest& request = given->request;
  options.Number("--metrics-port", &request.metrics_port, "serve /metrics during the run; 0 takes a free port", 0,
                 65535);
  options.Text("--metrics-address", &request.metrics_address, "A", "address to serve on (127.0.0.1)");
  options.Text("--token-file", &request.token_file, "FILE", "file with the token that scrapers must send");
  options.Text("--linger", &given->linger, "DURATION",
               "keep serving so long after the end, for a last scrape (30s, 5m)");
  options.Text("--namespace", &request.metrics_namespace, "NS", "prefix of all metric names");
}

}  // namespace

Action DeclareRun(Options options, Context& context) {
  auto given = std::make_shared<RunOptions>();
  app::RunRequest& request = given->request;
  options.Text("target", &given->target, "FILE[:WORKFLOW]", "the Python file; :WORKFLOW when it holds several",
               Need::kRequired);
  options.Texts("--param,-p", &given->params, "NAME=VALUE", "a parameter of the workflow; may be repeated");
  options.Text("--params", &request.params_file, "FILE", "parameters from a .json or .toml file");
  options.Choice("--executor", &request.executor, "KIND", "what runs the tasks",
                 {"inline", "threads", "processes", "async"});
  options.Number("--workers", &request.workers, "how many tasks run at once", 1, 65536);
  options.Choice("--mode", &request.mode, "MODE", "how much is profiled", {"always", "sample", "off"});
  options.Text("--stack-rate", &given->stack_rate, "RATE",
               "stacks of all threads so many times per second; 0: none (100)");
  AddStore(options, context);
  AddMetricsOptions(options, given.get());
  options.Texts("--tag", &given->tags, "KEY=VALUE", "a tag of the run, to find it again; may be repeated");
  options.Text("--python", &given->python, "PATH", "the Python to run it with");
  options.Flag("--quiet,-q", &request.quiet, "print errors and the user's own output only");
  AddJson(options, context);
  return [given, &context] { return Act(given, context); };
}

}  // namespace wf::cli
