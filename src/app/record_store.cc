#include "app/record_store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "app/process_row.h"

namespace wf::app {
Result<RecordStore> RecordStore::Open(const std::string& folder, const std::string& name,
                                      const std::vector<std::string>& command) {
  auto store = store::Store::Open(store::Locate(folder), store::Access::kReadWrite);
  if (!store.ok()) return store.status();
  RecordStore opened(std::move(*store));
  opened.run_.workflow = name;
  opened.run_.argv = command;
  return opened;
}

void RecordStore::Begin(const profile::StackMeta& meta) {
  run_.id = base::RunId::Make();
  run_.kind = profile::RunKind::kRecording;
  run_.start_wall_ns = meta.start_wall_ns;
  run_.start_ns = meta.start_ns;
  auto writer = store_->BeginRun(run_, ProcessRow(1, getpid(), "recorder"));
  status_ = writer.status();
  if (writer.ok()) writer_ = std::move(*writer);
}

void RecordStore::PutProcess(const profile::Process& process) {
  if (writer_) writer_->PutProcess(process);
}

void RecordStore::PutStacks(profile::StackDelta stacks) {
  if (writer_) writer_->PutStacks(std::move(stacks));
}

Status RecordStore::Close(int64_t end_ns) {
  if (!writer_) return status_;
  run_.state = base::RunState::kSuccess;
  run_.end_ns = end_ns;
  writer_->PutRun(run_);
  return writer_->Close();
}

std::string RecordStore::Where() const {
  return fmt::format("run {} in {}", run_.id.ToString(), store_->folder().string());
}

}  // namespace wf::app
