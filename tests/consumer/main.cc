// Uses the public headers as a stranger does; exits with 0 when the library does what they promise.
#include <wf/report.h>
#include <wf/status.h>
#include <wf/workflow.h>

#include <cstdlib>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

namespace {

bool Holds(bool what, const char* sentence) {
  if (!what) std::cerr << "not true: " << sentence << "\n";
  return what;
}

bool StatusesCarryTheirReason() {
  const wf::Status status = wf::Status(wf::Code::kInvalidArgument, "no port: none").WithContext("--port");
  return Holds(!status.ok() && status.message() == "--port: no port: none", "a status carries its reason") &&
         Holds(wf::CodeName(status.code()) == "invalid argument", "a code has a name");
}

// load -> three multiples -> sum, on the library's own threads.
bool AGraphRunsAndReportsItsCost() {
  wf::Workflow flow("consumer");
  const wf::Future<int> load = flow.Add({.name = "load"}, [] { return 2; });
  std::vector<wf::Future<int>> scaled;
  for (int factor : {1, 2, 3}) {
    scaled.push_back(flow.Add({.name = "scale"}, [factor](const int& value) { return factor * value; }, load));
  }
  const wf::Future<int> sum = flow.Add(
      {.name = "sum"},
      [](const std::vector<const int*>& all) {
        return std::accumulate(all.begin(), all.end(), 0, [](int total, const int* value) { return total + *value; });
      },
      scaled);
  const wf::RunReport report = flow.Run({.threads = 2});
  return Holds(report.status.ok(), "the run succeeds") && Holds(*sum.value() == 12, "values pass along the edges") &&
         Holds(report.nodes.size() == 5 && report.nodes[0].task == "load", "every node is in the report") &&
         Holds(report.nodes[4].wall_ns > 0, "every node has its cost");
}

bool AFailureNamesTheTaskAndSkipsItsDependants() {
  wf::Workflow flow("consumer");
  const wf::Future<int> bad =
      flow.Add({.name = "parse"}, []() -> wf::Result<int> { return wf::Status(wf::Code::kDataLoss, "bad row 7"); });
  flow.Add({.name = "use"}, [](const int&) {}, bad);
  const wf::RunReport report = flow.Run();
  return Holds(report.status.message().find("parse") != std::string::npos, "the error names its task") &&
         Holds(report.nodes[1].state == wf::NodeState::kSkipped, "what depends on a failure is skipped");
}

}  // namespace

int main() {
  const bool all =
      StatusesCarryTheirReason() && AGraphRunsAndReportsItsCost() && AFailureNamesTheTaskAndSkipsItsDependants();
  return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
