// SampleRun: what the process beside a run does (sampler_process.h): reads the stacks of the run's processes again and
// again, asks their context pages which attempt each thread works for, and writes both into the run's file.
#ifndef WF_APP_SAMPLE_RUN_H_
#define WF_APP_SAMPLE_RUN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/run_id.h"

namespace wf::app {

struct SampleRunOptions {
  base::RunId run;
  std::string store;  // its folder
  double rate_hz = 100;
  bool outside = true;  // keep what threads do outside of attempts, too
  std::string command;  // of the run, for titles
};

// The one argument of `wf` that makes it this process; a document follows. Not for people.
inline constexpr std::string_view kSampleRunWord = "--sample-run";
// Where it finds its socket to the owner.
inline constexpr int kSampleRunChannel = 3;

// Messages, each a packet. From the owner: a process to watch.
struct WatchMessage {
  int32_t pid = 0;
  uint32_t process = 0;
};
// From the sampler: one when it is there, one when it has written everything.
struct SamplerMessage {
  int32_t pid = 0;         // 0: it could not start, or something went wrong
  char version[32] = {};   // of `wf`
  char problem[988] = {};  // empty: none
};

std::string SampleRunDocument(const SampleRunOptions& options);
// The whole process; returns its exit code. `document`: of SampleRunDocument.
int SampleRun(std::string_view document);

}  // namespace wf::app

#endif  // WF_APP_SAMPLE_RUN_H_
