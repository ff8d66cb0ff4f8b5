#include "app/dump_tasks.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cpython/async_tasks.h"

namespace wf::app {
namespace {

bool IsSameCode(const cpython::Frame& a, const cpython::Frame& b) {
  return a.code != nullptr && b.code != nullptr && a.code->name == b.code->name &&
         a.code->filename == b.code->filename && a.code->first_line == b.code->first_line;
}

// The chain of a running task goes on in its thread, where the frame that it was resumed at is a part of the stack.
std::vector<cpython::Frame> WithCalls(const cpython::AsyncTask& task,
                                      const std::vector<sampler::ThreadSample>& threads) {
  if (!task.running || task.frames.empty()) return task.frames;
  for (const sampler::ThreadSample& thread : threads) {
    const auto& frames = thread.stack.frames;
    const auto found = std::find_if(frames.begin(), frames.end(), [&](const cpython::Frame& frame) {
      return frame.address == task.frames[0].address && IsSameCode(frame, task.frames[0]);
    });
    if (found == frames.end() || thread.stack.reject != cpython::Reject::kNone) continue;
    std::vector<cpython::Frame> all(frames.begin(), found + 1);
    all.insert(all.end(), task.frames.begin() + 1, task.frames.end());
    return all;
  }
  return task.frames;
}

std::string SentenceOn(const cpython::AsyncSnapshot& snapshot) {
  if (!snapshot.imported) return "No asyncio tasks: the program has not imported asyncio";
  std::string text;
  if (snapshot.tasks.empty() && snapshot.unsettled == 0) return "No asyncio tasks: none is there that is not done";
  if (snapshot.unsettled != 0) {
    text = std::to_string(snapshot.unsettled) +
           " asyncio tasks are not shown: they changed while they were read; --blocking holds them still";
  }
  if (snapshot.limited) {
    text += (text.empty() ? "" : "; ") + std::string("only the first ") +
            std::to_string(cpython::AsyncTasks::kMostTasks) + " asyncio tasks were looked at";
  }
  return text;
}

}  // namespace

void AddTasks(const cpython::Runtime& runtime, const std::vector<sampler::ThreadSample>& threads, FrameDetails& details,
              report::DumpProcess* process) {
  if (!details.request().tasks) return;
  std::vector<uint64_t> states;
  for (const sampler::ThreadSample& thread : threads) states.push_back(thread.stack.thread);
  const cpython::AsyncSnapshot found = cpython::AsyncTasks(details.memory(), runtime).Read(states);
  for (const cpython::AsyncTask& from : found.tasks) {
    report::DumpTask task;
    task.name = from.name;
    task.state = from.running ? "running" : from.waiting ? "waiting" : "ready";
    task.awaited_task = from.awaited_task;
    task.truncated = from.truncated;
    for (const cpython::Frame& frame : WithCalls(from, threads)) task.frames.push_back(details.Of(frame));
    const auto home = std::find_if(process->threads.begin(), process->threads.end(), [&](const auto& thread) {
      return from.thread_id != 0 && thread.pthread_id == from.thread_id;
    });
    (home != process->threads.end() ? home->tasks : process->other_tasks).push_back(std::move(task));
  }
  process->asyncio = SentenceOn(found);
}

}  // namespace wf::app
