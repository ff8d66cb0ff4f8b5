// Stacks for tests: small ones by name, and random ones with names that break formats.
#ifndef WF_PROFILE_STACKS_FOR_TEST_H_
#define WF_PROFILE_STACKS_FOR_TEST_H_

#include <random>
#include <string>
#include <vector>

#include "profile/stack_recorder.h"

namespace wf::profile {

// Outermost first; each in prog.py, at line 10, 20, … .
inline uint32_t StackOf(StackTable& table, const std::vector<std::string>& names) {
  uint32_t stack = kEmptyStack;
  int32_t line = 0;
  for (const std::string& name : names) {
    Frame frame;
    frame.name = table.Intern(name);
    frame.file = table.Intern("/home/ada/prog.py");
    frame.first_line = line + 1;
    frame.line = line += 10;
    stack = table.Push(stack, table.AddFrame(frame));
  }
  return stack;
}

inline std::vector<std::string> NastyNames() {
  return {"plain",
          "a b;c.py",
          "line\nbreak\r\n",
          "<weird & \x01 <name>",
          "\"quoted\" 'single' \\back",
          "]]>--><script>alert(1)</script>",
          "",
          " ",
          "ends with 12",
          std::string("nul\0inside", 10),
          "\xFF\xFE invalid \xC3",
          "\xED\xA0\x80 surrogate",
          "\xE2\x80\xA8 separators \xE2\x80\xA9 \xC2\x85",
          "\xE2\x80\xAE right to left",
          "\xEF\xBF\xBE\xEF\xBF\xBF no characters",
          "\xF0\x9F\x94\xA5 fire",
          "tab\tand\x1b[31m escape",
          "{\"json\": [1, 2]}",
          "${js} `template` </title>",
          std::string(5'000, 'n'),
          "<module>",
          "<lambda>"};
}

// Several threads in two processes, random stacks, gaps, recursion, zero weights.
inline StackProfile NastyProfile(unsigned seed, SampleMode mode = SampleMode::kWall) {
  std::mt19937 random(seed);
  const std::vector<std::string> names = NastyNames();
  const auto pick = [&] { return names[random() % names.size()]; };
  StackMeta meta;
  meta.mode = mode;
  meta.rate_hz = 100;
  meta.missed = 3;
  meta.rejected = {{"torn", 2}, {"<reason & \n>", 1}};
  meta.start_wall_ns = 1'700'000'000'000'000'000;
  meta.start_ns = 5'000'000'000;
  meta.command = "python \"a b;c.py\" -c 'x\ny' " + pick();
  StackRecorder recorder(meta);
  StackTable& table = recorder.table();
  std::vector<uint32_t> stacks;
  for (int i = 0; i < 40; ++i) {
    uint32_t stack = random() % 3 == 0 || stacks.empty() ? kEmptyStack : stacks[random() % stacks.size()];
    for (unsigned depth = random() % 12; depth > 0; --depth) {
      Frame frame;
      frame.kind = static_cast<FrameKind>(random() % 4);
      frame.name = table.Intern(pick());
      frame.qualified_name = table.Intern(random() % 2 == 0 ? "" : "Class." + pick());
      frame.file = table.Intern(random() % 3 == 0 ? "" : "/home/ada/" + pick() + "/mod.py");
      frame.first_line = static_cast<int32_t>(random() % 50);
      frame.line = frame.first_line + static_cast<int32_t>(random() % 5);
      stack = table.Push(stack, table.AddFrame(frame));
    }
    stacks.push_back(stack);
  }
  for (uint32_t t = 0; t < 5; ++t) {
    int64_t time = meta.start_ns + random() % 1'000'000;
    int64_t cpu = 0;
    const uint32_t thread = recorder.AddThread(1 + t % 2, static_cast<int32_t>(100 + t), pick(), time);
    for (int i = 0; i < 200; ++i) {
      const auto state = static_cast<uint8_t>(random() % 2 == 0 ? kOnCpu | kHoldsGil : kIdle);
      recorder.Record(thread, {.time_ns = time,
                               .clock_ns = mode == SampleMode::kCpu ? cpu : time,
                               .stack = stacks[random() % stacks.size()],
                               .state = state,
                               .attempt = random() % 3});
      recorder.CountRound();
      const int64_t step = 9'000'000 + random() % 2'000'000;
      time += step;
      cpu += static_cast<int64_t>(random() % 9'000'000);
    }
    if (t == 3) recorder.EndThread(thread, time, mode == SampleMode::kCpu ? cpu : time);
  }
  const int64_t end = meta.start_ns + 2'300'000'000;
  recorder.Finish(end);
  StackAssembler assembler;
  (void)assembler.Add(recorder.Take(end));
  StackProfile profile = assembler.Finish();
  for (uint32_t id : {1U, 2U}) {
    Process& process = profile.processes.emplace_back();
    process.id = id;
    process.host = "host";
    process.pid = static_cast<int32_t>(1'000 + id);
    process.name = id == 1 ? "owner" : pick();
  }
  return profile;
}

}  // namespace wf::profile

#endif  // WF_PROFILE_STACKS_FOR_TEST_H_
