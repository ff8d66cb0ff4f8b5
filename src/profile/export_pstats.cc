// pstats: what cProfile writes and `pstats.Stats(file)` loads, a marshalled dict
//
//   {(file, first line, name): (primitive calls, calls, own seconds, total seconds, {caller: (the same four)})}
//
// A sampler does not count calls: both counts are readings that found the function in the stack.
#include <map>

#include "profile/call_sums.h"
#include "profile/export.h"
#include "profile/marshal_writer.h"
#include "profile/stack_view.h"

namespace wf::profile {
namespace {

using Function = std::tuple<std::string, int32_t, std::string>;

void PutFunction(MarshalWriter& out, const Function& function) {
  const auto& [file, line, name] = function;
  out.BeginTuple(3);
  out.Text(file);
  out.Int(static_cast<uint64_t>(std::max(line, 0)));
  out.Text(name);
}

void PutSum(MarshalWriter& out, const FoldedWeight& sum) {
  out.Int(sum.total_count);
  out.Int(sum.total_count);
  out.Float(static_cast<double>(sum.self_ns) / 1e9);
  out.Float(static_cast<double>(sum.total_ns) / 1e9);
}

Function FunctionOf(const ShownFrame& frame) {
  return {frame.file, frame.first_line, frame.name.empty() ? frame.label : frame.name};
}

}  // namespace

void WritePstats(const StackProfile& profile, const ExportOptions& options, std::ostream& out) {
  ExportOptions by_function = options;
  by_function.by_function = true;
  by_function.line_numbers = true;
  by_function.threads = by_function.processes = false;
  StackView view(profile, by_function);
  const std::vector<FoldedWeight> weights = view.Fold();
  std::map<Function, uint32_t> numbers;
  std::vector<uint32_t> key_of_frame;
  for (const ShownFrame& frame : view.frames()) {
    key_of_frame.push_back(numbers.try_emplace(FunctionOf(frame), static_cast<uint32_t>(numbers.size())).first->second);
  }
  std::vector<const Function*> functions(numbers.size());
  for (const auto& [function, number] : numbers) functions[number] = &function;
  CallSums sums = SumCalls(view, weights, key_of_frame, functions.size());
  const Function no_stack = {"", 0, "<no stack>"};
  if (weights[0].self_ns > 0) {
    functions.push_back(&no_stack);
    sums.keys.push_back({weights[0].self_ns, weights[0].self_ns, weights[0].self_count, weights[0].self_count});
  }
  MarshalWriter marshal;
  marshal.BeginDict();
  for (uint32_t key = 0; key < functions.size(); ++key) {
    PutFunction(marshal, *functions[key]);
    marshal.BeginTuple(5);
    PutSum(marshal, sums.keys[key]);
    marshal.BeginDict();
    for (auto call = sums.calls.lower_bound({key, 0}); call != sums.calls.end() && call->first.first == key; ++call) {
      PutFunction(marshal, *functions[call->first.second]);
      marshal.BeginTuple(4);
      PutSum(marshal, call->second);
    }
    marshal.EndDict();
  }
  marshal.EndDict();
  out << marshal.bytes();
}

}  // namespace wf::profile
