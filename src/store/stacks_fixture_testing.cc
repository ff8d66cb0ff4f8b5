// usage: stacks_fixture STORE TEXT
// Makes the store that tests/integration/test_export.py reads, with one recording: each line of TEXT is a round of 10
// ms with the tid, the name of the thread, the state and the stack, with tabs between them.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "profile/stack_recorder.h"
#include "store/test_support.h"

namespace wf::store {
namespace {

using profile::kEmptyStack;
using profile::StackRecorder;

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// "name|file|first line|line" for each frame, outermost first, ";" between them.
uint32_t StackOfText(profile::StackTable& table, const std::string& text) {
  uint32_t stack = kEmptyStack;
  for (const std::string& part : Split(text, ';')) {
    const std::vector<std::string> fields = Split(part, '|');
    profile::Frame frame;
    frame.name = table.Intern(fields.at(0));
    frame.file = table.Intern(fields.at(1));
    frame.first_line = std::stoi(fields.at(2));
    frame.line = std::stoi(fields.at(3));
    stack = table.Push(stack, table.AddFrame(frame));
  }
  return stack;
}

Status MakeStore(const std::string& folder, const std::string& text) {
  const auto store = OpenStore(folder);
  profile::Run run = MakeRun("prog.py");
  run.kind = profile::RunKind::kRecording;
  const auto writer = Begin(*store, run);
  profile::StackMeta meta;
  meta.rate_hz = 100;
  meta.start_ns = 1'000'000'000;
  meta.start_wall_ns = run.start_wall_ns;
  meta.rejected = {{"torn", 2}};
  meta.command = "python prog.py --epochs 3";
  StackRecorder recorder(meta);
  std::map<int, std::pair<uint32_t, int64_t>> threads;  // tid -> number, time of its next reading
  int64_t end_ns = meta.start_ns;
  std::ifstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> fields = Split(line, '\t');
    const int tid = std::stoi(fields.at(0));
    if (threads.count(tid) == 0) {
      threads[tid] = {recorder.AddThread(1, tid, fields.at(1), meta.start_ns), meta.start_ns};
    }
    auto& [thread, time_ns] = threads[tid];
    recorder.Record(thread, {.time_ns = time_ns,
                             .clock_ns = time_ns,
                             .stack = StackOfText(recorder.table(), fields.at(3)),
                             .state = static_cast<uint8_t>(std::stoi(fields.at(2)))});
    time_ns += 10'000'000;
    if (time_ns > end_ns) recorder.CountRound();
    end_ns = std::max(end_ns, time_ns);
  }
  recorder.Finish(end_ns);
  writer->PutStacks(recorder.Take(end_ns));
  run.state = base::RunState::kSuccess;
  run.end_ns = end_ns;
  writer->PutRun(run);
  return writer->Close();
}

}  // namespace
}  // namespace wf::store

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: {} STORE TEXT\n", argv[0]);
    return 2;
  }
  const wf::Status made = wf::store::MakeStore(argv[1], argv[2]);
  if (!made.ok()) fmt::print(stderr, "{}\n", made.message());
  return made.ok() ? 0 : 1;
}
