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

uint32_t RecordStore::TaskOf(const std::string& name) {
  const auto [at, is_new] = tasks_.try_emplace(name, static_cast<uint32_t>(tasks_.size()) + 1);
  if (!is_new) return at->second;
  profile::Task task;
  task.id = at->second;
  task.name = name;
  task.kind = "function";
  writer_->PutTask(std::move(task));
  return at->second;
}

// A node of its own for each: of the other run's graph nothing is known.
void RecordStore::PutAttempt(const profile::StackAttempt& attempt) {
  if (!writer_) return;
  profile::Node node;
  node.id = attempt.id;
  node.task = TaskOf(attempt.task);
  node.state = base::NodeState::kRunning;
  writer_->PutNode(node);
  profile::Attempt row;
  row.id = attempt.id;
  row.node = attempt.id;
  row.start_ns = attempt.time_ns;
  row.process = attempt.process;
  row.tid = attempt.tid;
  row.sampled = true;
  row.of_run = attempt.run;
  row.of_node = attempt.node;
  row.of_attempt = attempt.attempt;
  writer_->PutAttempt(row);
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
