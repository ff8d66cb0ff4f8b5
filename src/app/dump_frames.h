// What `wf dump` shows of frames and threads, from a process or a core file.
#ifndef WF_APP_DUMP_FRAMES_H_
#define WF_APP_DUMP_FRAMES_H_

#include <string>
#include <utility>
#include <vector>

#include "app/dump.h"
#include "app/package_path.h"
#include "app/source_lines.h"
#include "cpython/frame_translator.h"
#include "cpython/layout.h"
#include "cpython/memory_reader.h"
#include "report/dump.h"
#include "sampler/target.h"

namespace wf::app {

// What is asked for beside the frames themselves.
class FrameDetails {
 public:
  // References must outlive it. `root`: where the process's files are seen from here.
  FrameDetails(std::string root, SourceLines sources, cpython::MemoryReader& memory, const cpython::Layout& layout,
               const DumpRequest& request)
      : memory_(memory), layout_(layout), request_(request), paths_(std::move(root)), sources_(std::move(sources)) {}

  report::DumpFrame Of(const cpython::Frame& from);
  const DumpRequest& request() const { return request_; }
  cpython::MemoryReader& memory() { return memory_; }

 private:
  std::vector<report::DumpLocal> LocalsOf(const cpython::Frame& from);

  cpython::MemoryReader& memory_;
  const cpython::Layout& layout_;
  const DumpRequest& request_;
  PackagePaths paths_;
  SourceLines sources_;
};

report::DumpThread ThreadOf(const sampler::ThreadSample& from, FrameDetails& details);

void AddNote(const std::string& note, report::DumpProcess* process);

}  // namespace wf::app

#endif  // WF_APP_DUMP_FRAMES_H_
