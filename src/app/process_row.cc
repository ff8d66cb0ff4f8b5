#include "app/process_row.h"

#include <utility>

#include "base/clock.h"
#include "base/process_id.h"

namespace wf::app {

profile::Process ProcessRow(uint32_t id, int32_t pid, std::string name) {
  base::ProcessId self = base::ProcessId::Self();
  profile::Process process;
  process.id = id;
  process.host = std::move(self.host);
  process.boot_id = std::move(self.boot_id);
  process.pid = pid;
  process.start_ticks = pid == self.pid ? self.start_ticks : base::StartTicksOf(pid).value_or(0);
  process.anchor_monotonic_ns = base::MonotonicNs();
  process.anchor_wall_ns = base::WallNs();
  process.name = std::move(name);
  return process;
}

}  // namespace wf::app
