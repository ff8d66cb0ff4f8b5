// RunSession: what goes to the store, apart from attempts that have ended.
#include <unistd.h>

#include <filesystem>

#include "app/gpu_watch.h"
#include "app/process_row.h"
#include "app/run_session.h"
#include "app/worker_watch.h"
#include "base/clock.h"
#include "base/redact.h"
#include "context/thread_slot.h"
#include "probe/readings.h"

namespace wf::app {
Status RunSession::OpenStore() {
  const auto folder = store::Locate(options_.store_folder);
  auto store = store::Store::Open(folder, store::Access::kReadWrite);
  if (!store.ok()) return store.status();
  auto writer = (*store)->BeginRun(run_, ProcessRow(1, getpid(), "owner"));
  if (!writer.ok()) return writer.status();
  store_folder_ = folder.string();
  writer_ = std::move(*writer);
  writer_->SetBeforeFlush([this] {
    thread_local bool registered = false;
    if (!registered) probe::RegisterServiceThread();
    registered = true;
    PutOpen();
  });
  writer_->SetOnRequest([this](const store::Request& request) { OnRequest(request); });
  return {};
}

void RunSession::StartSampler() {
  if (!writer_ || options_.stack_rate_hz <= 0 || options_.mode == Mode::kOff) return;
  SampleRunOptions options;
  options.run = run_.id;
  options.store = std::filesystem::absolute(store_folder_).string();
  options.rate_hz = options_.stack_rate_hz;
  options.outside = options_.mode == Mode::kAlways;
  for (const std::string& word : run_.argv) options.command += (options.command.empty() ? "" : " ") + word;
  (void)context::Current();  // makes the page, so that it is found at once
  auto started = SamplerProcess::Start(options_.sampler, options);
  if (started.ok()) {
    sampler_ = std::move(*started);
  } else {
    stacks_problem_ = started.status();
  }
}

profile::Node RunSession::NodeRow(NodeId node) const {
  const NodeInfo& info = nodes_[node];
  profile::Node row;
  row.id = node;
  row.task = info.task;
  row.map_index = info.map_index;
  row.parent = machine_.ParentOf(node);
  row.state = machine_.StateOf(node);
  row.ready_ns = info.ready_ns;
  return row;
}

void RunSession::PutFinal(NodeId node, const dag::Command& command) {
  if (!writer_) return;
  profile::Node row = NodeRow(node);
  row.state = command.node_state;
  row.end_ns = Now();
  if (command.node_state == base::NodeState::kSkipped) {
    row.cause_node = command.cause;
    row.cause = "skipped because " + NodeName(command.cause) + " did not succeed";
  } else if (command.node_state == base::NodeState::kCancelled) {
    row.cause = cancel_reason_;
  }
  writer_->PutNode(row);
}

void RunSession::PutOpen() {
  const std::lock_guard lock(mutex_);
  const auto last = static_cast<NodeId>(nodes_.size() - 1);
  for (NodeId node = put_nodes_ + 1; node <= last; ++node) {
    if (!base::IsFinal(machine_.StateOf(node))) writer_->PutNode(NodeRow(node));
  }
  put_nodes_ = last;
  for (const OpenAttempt* open : open_) {
    profile::Attempt row;
    row.id = open->id;
    row.node = open->node;
    row.number = static_cast<int32_t>(open->number);
    row.start_ns = open->start_ns;
    row.worker = open->worker;
    row.process = 1;
    row.tid = open->tid;
    row.sampled = open->sampled;
    writer_->PutAttempt(row);
    writer_->PutNode(NodeRow(open->node));
  }
}

void RunSession::AddLog(profile::LogLine line) {
  if (!writer_) return;
  line.text = base::RedactText(line.text);
  writer_->AddLog(std::move(line));
}

uint32_t RunSession::AddProcess(int32_t pid, const std::string& name) {
  profile::Process process = ProcessRow(0, pid, name);
  WatchPid(pid);
  WatchWorker(pid);
  const std::lock_guard lock(mutex_);
  process.id = ++last_process_;
  if (writer_) writer_->PutProcess(process);
  if (sampler_ != nullptr) sampler_->Watch(pid, process.id);
  return process.id;
}

void RunSession::RemoveProcess(int32_t pid) {
  UnwatchPid(pid);
  UnwatchWorker(pid);
}

void RunSession::SetOnStoreError(std::function<void(const Status&)> hook) {
  if (writer_) {
    writer_->SetOnError(std::move(hook));
  } else if (!unopened_.ok()) {
    hook(unopened_);
  }
}

void RunSession::Flush() {
  if (writer_) (void)writer_->Flush();
}

}  // namespace wf::app
