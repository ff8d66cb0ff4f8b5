// The fixed words of reports in both languages.
#ifndef WF_REPORT_PHRASES_H_
#define WF_REPORT_PHRASES_H_

#include <string_view>

#include "report/style.h"

namespace wf::report {

enum class Phrase {
  kTask,
  kAttempts,
  kWall,
  kCpuSeconds,
  kCoresUsed,
  kPeakMemory,
  kReadWritten,
  kGpuMemory,
  kShareOfRun,
  kWholeRun,
  kOf,  // "0.99 of 2"
  kFailed,
  kBottleneck,
  kWhy,
  kTry,
  kAlso,
  kAtBest,
  kNotMeasured,
  kLegendEstimated,
  kLegendShared,
  kNothingRan,
  kOnPath,
  kHottestLines,
  kShareOfTask,
  kFunction,
  kLine,
  kWaiting,
  kSamples,
  kMissed,
  kRejected,
  kSamplerTook,
  kOutsideOfTasks,
  kCount,
};

std::string_view Say(Phrase phrase, Language language);

// What a figure is called: of "cpu", "memory", "device_bytes", … ; the id itself when it has no name.
std::string_view FigureName(std::string_view id, Language language);

}  // namespace wf::report

#endif  // WF_REPORT_PHRASES_H_
