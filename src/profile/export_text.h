// What several formats say or do in the same way.
#ifndef WF_PROFILE_EXPORT_TEXT_H_
#define WF_PROFILE_EXPORT_TEXT_H_

#include <span>
#include <string>
#include <vector>

#include "profile/export.h"
#include "profile/stack_view.h"

namespace wf::profile {

// The title that was asked for, else the command.
std::string TitleOf(const StackMeta& meta, const ExportOptions& options);
// "wall time, idle included · 100 Hz asked, 99.8 achieved · 3 missed · 2 rejected (torn 2) · 10.2 s · 4 threads":
// what every output must say about its numbers.
std::string SubtitleOf(const StackProfile& profile, const ExportOptions& options);
// "1.23 s", "45.6 ms".
std::string DurationText(int64_t ns);
// "12.3 %".
std::string PercentText(int64_t part, int64_t whole);
// The same facts as a JSON object.
std::string MetaJson(const StackMeta& meta);

struct ThreadSamples {
  uint32_t thread = 0;
  std::span<const StackSample> samples;  // by time
};

// The samples of each thread that has one which is let in. REQUIRES: samples are grouped by thread, as
// StackAssembler leaves them.
std::vector<ThreadSamples> SamplesByThread(const StackView& view);

}  // namespace wf::profile

#endif  // WF_PROFILE_EXPORT_TEXT_H_
