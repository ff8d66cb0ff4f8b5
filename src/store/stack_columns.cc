// Samples as columns and back.
#include <algorithm>

#include "store/stack_file.h"

namespace wf::store {
namespace {

using profile::StackSample;

// Columns of a chunk of samples, in this order.
enum SampleColumn : size_t {
  kThread = 0,  // delta; rows are sorted by it
  kGap,         // time since the end of the row before; mostly 0, negative where a new thread begins
  kSpan,
  kLess,  // span minus weight; 0 in wall mode
  kStack,
  kCount,
  kState,
  kAttempt,  // delta
  kSampleColumns
};

// Differences may wrap on damaged input: then they are unsigned, which is defined.
int64_t Plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t Minus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// No clock reaches 2^61 ns (73 years): sums of two times are safe.
bool IsTime(int64_t ns) { return ns >= 0 && ns <= int64_t{1} << 61; }

bool FitsSample(int64_t thread, int64_t stack, int64_t count, int64_t state) {
  return thread >= 0 && thread <= UINT32_MAX && stack >= 0 && stack <= UINT32_MAX && count >= 0 &&
         count <= UINT32_MAX && state >= 0 && state <= UINT8_MAX;
}

}  // namespace

std::vector<Column> SampleColumns(std::vector<StackSample> samples) {
  std::stable_sort(samples.begin(), samples.end(), [](const StackSample& a, const StackSample& b) {
    return std::pair(a.thread, a.time_ns) < std::pair(b.thread, b.time_ns);
  });
  std::vector<Column> columns(kSampleColumns);
  for (Column& column : columns) column.ints.reserve(samples.size());
  columns[kThread].encoding = columns[kAttempt].encoding = Encoding::kDelta;
  int64_t end_ns = 0;
  for (const StackSample& sample : samples) {
    columns[kThread].ints.push_back(sample.thread);
    columns[kGap].ints.push_back(Minus(sample.time_ns, end_ns));
    columns[kSpan].ints.push_back(sample.span_ns);
    columns[kLess].ints.push_back(Minus(sample.span_ns, sample.weight_ns));
    columns[kStack].ints.push_back(sample.stack);
    columns[kCount].ints.push_back(sample.count);
    columns[kState].ints.push_back(sample.state);
    columns[kAttempt].ints.push_back(static_cast<int64_t>(sample.attempt));
    end_ns = Plus(sample.time_ns, sample.span_ns);
  }
  return columns;
}

Result<std::vector<StackSample>> SamplesOf(const std::vector<Column>& columns) {
  const Status wrong(Code::kDataLoss, "a chunk of the run's file does not hold samples of stacks");
  if (columns.size() != kSampleColumns) return wrong;
  for (const Column& column : columns) {
    if (column.encoding == Encoding::kDouble) return wrong;
  }
  std::vector<StackSample> samples(columns[kThread].ints.size());
  int64_t end_ns = 0;
  for (size_t row = 0; row < samples.size(); ++row) {
    const auto value = [&](SampleColumn column) { return columns[column].ints[row]; };
    if (!FitsSample(value(kThread), value(kStack), value(kCount), value(kState))) return wrong;
    StackSample& sample = samples[row];
    sample.thread = static_cast<uint32_t>(value(kThread));
    sample.time_ns = Plus(end_ns, value(kGap));
    sample.span_ns = value(kSpan);
    sample.weight_ns = Minus(sample.span_ns, value(kLess));
    if (!IsTime(sample.time_ns) || !IsTime(sample.span_ns) || !IsTime(sample.weight_ns)) return wrong;
    sample.stack = static_cast<uint32_t>(value(kStack));
    sample.count = static_cast<uint32_t>(value(kCount));
    sample.state = static_cast<uint8_t>(value(kState));
    sample.attempt = static_cast<uint64_t>(value(kAttempt));
    end_ns = Plus(sample.time_ns, sample.span_ns);
  }
  return samples;
}

}  // namespace wf::store
