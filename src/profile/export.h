// Exports of recorded stacks, one file per format behind one table.
//
// Every format is given the same view (stack_view.h) and writes to a stream; whether the stream took it is the
// caller's to check. All weights of a format add up to StackProfile::total_weight_ns() of what the options let in;
// `collapsed` counts periods of the sampler, as py-spy does, and adds up to the same to within one period.
#ifndef WF_PROFILE_EXPORT_H_
#define WF_PROFILE_EXPORT_H_

#include <functional>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "profile/stacks.h"

namespace wf::profile {

// Which samples are let in.
enum class StackSelection : uint8_t { kAll, kActive, kGil };  // kActive: without idle ones

struct ExportOptions {
  bool by_function = false;      // one frame per function, at its first line (-F)
  bool line_numbers = true;      // --nolineno
  bool full_file_names = false;  // else as short as is unambiguous in this profile
  bool threads = false;          // each thread as an outermost frame (-t)
  bool processes = false;        // each process as the frame outside of that
  // The task of an attempt; each task becomes the outermost frame of all, and threads that wait outside of
  // tasks are left out. Empty: no such frames.
  std::function<std::string(uint64_t attempt)> task_of = nullptr;
  StackSelection selection = StackSelection::kAll;
  // Only samples of these attempts; nullopt: all.
  std::optional<std::set<uint64_t>> attempts = std::nullopt;
  bool icicle = false;          // flame graph: outermost frame at the top
  double least_share = 0.0005;  // flame graph: narrower frames are left out
  std::string title = {};       // flame graph and heat map; empty: the command
  // Heat map: the text of a source file as it is now, nullopt when it cannot be had. Empty: no sources.
  std::function<std::optional<std::string>(const std::string& file)> read_source = nullptr;
};

struct ExportFormat {
  std::string_view name;
  std::string_view suffix;  // of a file's name, with its dot
  std::string_view summary;
  bool by_time;   // shows when each sample was, so that a recording for it grows with its length
  bool attempts;  // shows, asked or not, which attempt or task each sample is of
  void (*write)(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
};

// All of them; the first is the default.
std::span<const ExportFormat> ExportFormats();
// By name; null when there is none.
const ExportFormat* FindExportFormat(std::string_view name);

// The formats.
void WriteFlameGraph(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
void WriteCollapsed(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
void WriteSpeedscope(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
void WriteChromeTrace(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
void WritePprof(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
void WriteGecko(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
void WritePstats(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
void WriteStacksJson(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
void WriteStacksJsonLines(const StackProfile& profile, const ExportOptions& options, std::ostream& out);
void WriteHeatMap(const StackProfile& profile, const ExportOptions& options, std::ostream& out);

}  // namespace wf::profile

#endif  // WF_PROFILE_EXPORT_H_
