// sampler_probe: the sampler alone, for tests and figures.
//
//   sampler_probe record PID FILE        keep the memory that two samples needed (recorded_memory_testing.h)
//   sampler_probe loop PID SECONDS HZ    sample and print collapsed stacks, root first, then "# " lines of figures
//                                        (HZ 0: as fast as it goes)
//   sampler_probe bench PID SECONDS HZ   the figures alone, without states
#include <sys/resource.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "cpython/recorded_memory_testing.h"
#include "sampler/proc_files.h"
#include "sampler/target.h"

namespace wf::sampler {
namespace {

int Record(int32_t pid, const std::string& path) {
  ProcessMemory memory(pid);
  cpython::RecordingReader recorder(memory);
  auto modules = ModulesIn(ReadProc(pid, "maps").value_or(""));
  const auto found = FindRuntime(recorder, modules);
  if (found.outcome != cpython::FindOutcome::kFound) return 1;
  cpython::StackReader stacks(recorder, found.runtime, {});
  cpython::ThreadNames names(recorder, found.runtime.layout);
  cpython::Sample sample;
  for (int i = 0; i < 3; ++i) {
    stacks.Read(&sample);
    names.Refresh(sample, stacks.interpreters(), i * int64_t{2'000'000'000});
  }
  std::erase_if(modules, [&](const auto& module) { return module.path != found.runtime.path; });
  recorder.Save(path, modules);
  return 0;
}

std::string Collapsed(const ThreadSample& thread) {
  std::string text = thread.name + (thread.active ? " active" : " idle") + (thread.stack.holds_gil ? "+gil" : "");
  for (auto frame = thread.stack.frames.rbegin(); frame != thread.stack.frames.rend(); ++frame) {
    text += ";" + (frame->code == nullptr ? "?" : frame->code->name + "@" + frame->code->filename);
  }
  return text;
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int Loop(int32_t pid, double seconds, double hz, bool bench) {
  TargetOptions options;
  options.states = !bench;
  auto target = Target::Attach(pid, options);
  if (!target.ok()) {
    std::fprintf(stderr, "%s\n", target.status().message().c_str());
    return 1;
  }
  std::map<std::string, uint64_t> stacks;
  Snapshot snapshot;
  uint64_t samples = 0;
  const double cpu = CpuSeconds();
  const int64_t start = base::MonotonicNs();
  while (base::MonotonicNs() - start < static_cast<int64_t>(seconds * 1e9)) {
    if (!(*target)->Read(&snapshot).ok()) break;
    ++samples;
    for (const auto& thread : snapshot.threads) {
      if (!bench && thread.stack.reject == cpython::Reject::kNone) ++stacks[Collapsed(thread)];
    }
    if (hz > 0) {
      const timespec pause{0, static_cast<long>(1e9 / hz)};
      nanosleep(&pause, nullptr);
    }
  }
  for (const auto& [stack, count] : stacks)
    std::printf("%s %llu\n", stack.c_str(), static_cast<unsigned long long>(count));
  std::printf("# samples %llu\n", static_cast<unsigned long long>(samples));
  std::printf("# cpu_us_per_sample %.2f\n", (CpuSeconds() - cpu) * 1e6 / static_cast<double>(samples));
  std::printf("# memory_calls_per_sample %.2f\n",
              static_cast<double>((*target)->memory_calls()) / static_cast<double>(samples));
  for (size_t i = 0; i < cpython::kRejectCount; ++i) {
    const auto count = (*target)->rejects().at(i);
    const std::string name(Name(static_cast<cpython::Reject>(i)));
    if (count != 0) std::printf("# rejected %s: %llu\n", name.c_str(), static_cast<unsigned long long>(count));
  }
  return 0;
}

}  // namespace
}  // namespace wf::sampler

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const auto number = [&](int at) { return std::strtod(argv[at], nullptr); };
  if (mode == "record" && argc == 4) return wf::sampler::Record(static_cast<int32_t>(number(2)), argv[3]);
  if ((mode == "loop" || mode == "bench") && argc == 5) {
    return wf::sampler::Loop(static_cast<int32_t>(number(2)), number(3), number(4), mode == "bench");
  }
  std::fprintf(stderr, "usage: sampler_probe record PID FILE | loop|bench PID SECONDS HZ\n");
  return 2;
}
