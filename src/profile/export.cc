#include "profile/export.h"

#include <array>

namespace wf::profile {
namespace {

constexpr std::array kFormats = {
    ExportFormat{"flamegraph", ".svg", "interactive flame graph, opens in any browser", false, &WriteFlameGraph},
    ExportFormat{"collapsed", ".txt", "a line per stack and its count, for flamegraph.pl and others", false,
                 &WriteCollapsed},
    ExportFormat{"raw", ".txt", "the same, as py-spy calls it", false, &WriteCollapsed},
    ExportFormat{"speedscope", ".speedscope.json", "speedscope.app", true, &WriteSpeedscope},
    ExportFormat{"chrometrace", ".trace.json", "ui.perfetto.dev and chrome://tracing", true, &WriteChromeTrace},
    ExportFormat{"pprof", ".pb.gz", "`go tool pprof`, Pyroscope, Polar Signals", false, &WritePprof},
    ExportFormat{"gecko", ".gecko.json", "profiler.firefox.com", true, &WriteGecko},
    ExportFormat{"pstats", ".pstats", "Python's pstats and what reads its files", false, &WritePstats},
    ExportFormat{"heatmap", ".html", "the source, each line coloured by its time", false, &WriteHeatMap},
    ExportFormat{"json", ".json", "all that was recorded, in columns", true, &WriteStacksJson},
    ExportFormat{"jsonl", ".jsonl", "the same as a line per frame, stack and sample", true, &WriteStacksJsonLines},
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
