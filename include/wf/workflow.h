// Workflow: a graph of tasks, run on a pool of threads, with what each task cost.
//
// A task is a function. It is added to a workflow together with the futures it needs; it runs once all of them have
// their values. The run reports for every task its state, and for every attempt its wall and CPU time.
//
//   wf::Workflow flow("training");
//   flow.Limit("gpu", 1);                                             // at most one of its tasks at a time
//
//   wf::Future<std::string> text = flow.Add({.name = "load"}, [] { return ReadFile("data.csv"); });
//   wf::Future<Table> table = flow.Add({.name = "parse"}, [](const std::string& t) { return Parse(t); }, text);
//   std::vector<wf::Future<double>> scores;
//   for (int seed : {1, 2, 3}) {
//     scores.push_back(flow.Add({.name = "train", .max_retries = 2, .limits = {"gpu"}},
//                               [seed](const Table& t) { return Train(t, seed); }, table));
//   }
//   wf::Future<double> best = flow.Add(
//       {.name = "best"},
//       [](const std::vector<const double*>& all) { return **std::max_element(all.begin(), all.end(), ByValue); },
//       scores);
//
//   wf::RunReport report = flow.Run();
//   if (!report.status.ok()) std::cerr << report.status.message() << "\n";
//   else std::cout << *best.value() << "\n";
//
// Terms. A *node* is one added call; nodes with the same name belong to one *task*. An *attempt* is one execution of a
// node; a retry is a further attempt. A node is *skipped* when something that it needs did not succeed.
//
// Failure. A task fails when it throws, or returns a wf::Status or wf::Result that is not OK. Then its dependants are
// skipped; everything else runs on. No exception leaves Run. Limits are released on every way out.
//
// Stopping. Cancel, RunOptions::stop and Task::timeout ask the running tasks to stop through their std::stop_token: a
// function whose last parameter is one is given it. A thread cannot be stopped from outside in C++, so a task that
// never looks at its token runs to its end; after a time-out it counts as timed out all the same.
//
// Threading. Add, After, Limit and Cancel may be called from any thread, also from inside running tasks: a node that a
// task adds has that task as its parent. A task must not wait for another one, it depends on it instead; the workflow
// offers no way to wait.
#ifndef WF_WORKFLOW_H_
#define WF_WORKFLOW_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wf/future.h"
#include "wf/internal/task_body.h"
#include "wf/report.h"
#include "wf/status.h"

namespace wf {

// How a node is called, retried and bounded. Meant for designated initialisers: {.name = "fit", .max_retries = 2}.
struct Task {
  std::string name;
  int max_retries = 0;                      // further attempts after a failure or time-out
  std::chrono::nanoseconds retry_delay{0};  // before the first retry
  double backoff = 1.0;                     // each further delay is this much longer
  std::chrono::nanoseconds max_delay{0};    // the longest delay; 0 = no bound
  double jitter = 0.0;                      // share of the delay, 0 to 1, taken off by chance
  std::chrono::nanoseconds timeout{0};      // of one attempt; 0 = none
  std::vector<std::string> limits{};        // names declared with Workflow::Limit
};

struct RunOptions {
  unsigned threads = 0;    // 0: one per CPU
  std::stop_token stop{};  // cancels the run
  size_t max_spans = 100'000;
};

class Workflow {
 public:
  explicit Workflow(std::string name);
  ~Workflow();  // REQUIRES: Run is not going on
  Workflow(const Workflow&) = delete;
  Workflow& operator=(const Workflow&) = delete;

  const std::string& name() const;

  // A named limit with a capacity of 1 or more. Wrong use is reported by Run.
  void Limit(std::string_view name, uint32_t capacity);

  // Adds a node. `function` gets, in this order, for each input
  //   Future<T>               const T&
  //   Future<void>            nothing; it only comes later
  //   std::vector<Future<T>>  const std::vector<const T*>&, in the same order, no null among them
  // and at the end, if it takes one, a std::stop_token. It may return a value, nothing, wf::Status or wf::Result<T>. It
  // is moved into the workflow, called once per attempt and destroyed when the node is final. What is wrong with the
  // task (an unknown limit, a future of another workflow) is reported by Run; the future is then not valid().
  template <typename Function, typename... Inputs>
  auto Add(Task task, Function function, const Inputs&... inputs);

  // `later` starts only after `earlier` succeeded. Only before Run: later, name it as an input instead. A cycle is
  // reported by Run, with its path.
  void After(const AnyFuture& later, const AnyFuture& earlier);

  // Runs everything and returns when the last node is final. Once per workflow. kInvalidArgument: the graph is wrong
  // (first fault of Add, After or Limit; a cycle), nothing ran. kFailedPrecondition: a second run.
  RunReport Run(const RunOptions& options = {});

  // Nothing starts any more, running tasks are asked to stop, Run returns when they have. Before Run: it runs nothing.
  void Cancel();

 private:
  friend struct internal::WorkflowImpl;

  // Returns the index, or kNoIndex after noting the fault.
  size_t AddNode(const Task& task, std::unique_ptr<internal::TaskBody> body, const std::vector<AnyFuture>& inputs);

  std::unique_ptr<internal::WorkflowImpl> impl_;
};

// ---- implementation

// By value, so that a task written in the call is moved.
template <typename Function, typename... Inputs>
// NOLINTNEXTLINE(performance-unnecessary-value-param)
auto Workflow::Add(Task task, Function function, const Inputs&... inputs) {
  using Body = internal::FunctionBody<Function, Inputs...>;
  auto body = std::make_unique<Body>(std::move(function), inputs...);
  Future<typename Body::Value> future;
  internal::FutureAccess::SetSlot(future, body->slot());
  std::vector<AnyFuture> all;
  (internal::Collect(inputs, all), ...);
  future.owner_ = impl_.get();
  future.index_ = AddNode(task, std::move(body), all);
  return future;
}

}  // namespace wf

#endif  // WF_WORKFLOW_H_
