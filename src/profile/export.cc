#include "profile/export.h"

#include <array>

namespace wf::profile {
namespace {

constexpr std::array kFormats = {
    ExportFormat{"flamegraph", ".svg", "interactive flame graph, opens in any browser", false, false, &WriteFlameGraph},
    ExportFormat{"collapsed", ".txt", "a line per stack and its count, for flamegraph.pl and others", false, false,
                 &WriteCollapsed},
    ExportFormat{"raw", ".txt", "the same, as py-spy calls it", false, false, &WriteCollapsed},
    ExportFormat{"speedscope", ".speedscope.json", "speedscope.app", true, false, &WriteSpeedscope},
    ExportFormat{"chrometrace", ".trace.json", "ui.perfetto.dev and chrome://tracing", true, true, &WriteChromeTrace},
    ExportFormat{"pprof", ".pb.gz", "`go tool pprof`, Pyroscope, Polar Signals", false, true, &WritePprof},
    ExportFormat{"gecko", ".gecko.json", "profiler.firefox.com", true, false, &WriteGecko},
    ExportFormat{"pstats", ".pstats", "Python's pstats and what reads its files", false, false, &WritePstats},
    ExportFormat{"heatmap", ".html", "the source, each line coloured by its time", false, false, &WriteHeatMap},
    ExportFormat{"json", ".json", "all that was recorded, in columns", true, true, &WriteStacksJson},
    ExportFormat{"jsonl", ".jsonl", "the same as a line per frame, stack and sample", true, true,
                 &WriteStacksJsonLines},
};

}  // namespace

std::span<const ExportFormat> ExportFormats() { return kFormats; }

const ExportFormat* FindExportFormat(std::string_view name) {
  for (const ExportFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace wf::profile
