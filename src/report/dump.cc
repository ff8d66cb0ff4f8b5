#include "report/dump.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/format.h"
#include "report/json_parts.h"

namespace wf::report {
namespace {

constexpr std::string_view kUnreadable = "<unreadable>";

std::string StateWords(const DumpThread& thread) {
  std::string words = thread.state == "?" ? "state unknown" : thread.active ? "active" : "idle";
  if (thread.holds_gil) words += "+gil";
  return words;
}

std::string HeadLine(const DumpThread& thread, const Style& style) {
  std::string line =
      thread.tid != 0 ? fmt::format("Thread {}", thread.tid) : fmt::format("Thread {:#x}", thread.pthread_id);
  line += fmt::format(" ({})", StateWords(thread));
  if (thread.interpreter != 0) line += fmt::format(" in interpreter {}", thread.interpreter);
  if (!thread.name.empty()) line += fmt::format(": \"{}\"", OneLine(thread.name));
  return Paint(style, Tone::kStrong, line) + "\n";
}

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Source and line where these are known, else the library.
std::string NativeLine(const DumpFrame& frame, bool full, const Style& style) {
  const std::string& path = frame.line > 0 ? frame.filename : frame.module;
  std::string place = OneLine(full ? path : BaseName(path));
  if (frame.line > 0) place += fmt::format(":{}", frame.line);
  const std::string name = frame.name.empty() ? fmt::format("{:#x}", frame.address) : OneLine(frame.name);
  if (place.empty()) return fmt::format("    {}\n", name);
  return fmt::format("    {} {}\n", name, Paint(style, Tone::kFaint, "(" + place + ")"));
}

std::string FrameLine(const DumpFrame& frame, bool full, const Style& style) {
  if (frame.native) return NativeLine(frame, full, style);
  if (frame.name.empty()) return fmt::format("    {}\n", kUnreadable);
  if (frame.marker) return fmt::format("    {}\n", Paint(style, Tone::kFaint, OneLine(frame.name)));
  std::string place = OneLine(full ? frame.filename : frame.short_filename);
  if (frame.line > 0) place += fmt::format(":{}", frame.line);
  return fmt::format("    {} {}\n", OneLine(frame.name), Paint(style, Tone::kFaint, "(" + place + ")"));
}

std::string LocalsText(const DumpFrame& frame, bool arguments) {
  std::string text;
  for (const DumpLocal& local : frame.locals) {
    if (local.argument != arguments) continue;
    if (text.empty()) text = arguments ? "        Arguments:\n" : "        Locals:\n";
    text += fmt::format("            {}: {}\n", OneLine(local.name), OneLine(local.text));
  }
  return text;
}

std::string FrameText(const DumpFrame& frame, bool full, const Style& style) {
  std::string text = FrameLine(frame, full, style);
  if (!frame.source.empty()) text += fmt::format("        {}\n", OneLine(frame.source));
  return text + LocalsText(frame, true) + LocalsText(frame, false);
}

std::string TaskText(const DumpTask& task, bool full, const Style& style) {
  const std::string name = task.name.empty() ? std::string(kUnreadable) : "\"" + OneLine(task.name) + "\"";
  std::string head = fmt::format("Task {} ({}", name, task.state);
  if (!task.awaited_task.empty()) head += fmt::format(" for task \"{}\"", OneLine(task.awaited_task));
  std::string text = fmt::format("  {}\n", Paint(style, Tone::kStrong, head + ")"));
  if (task.truncated) text += "    <truncated>\n";
  for (const DumpFrame& frame : task.frames) text += FrameText(frame, full, style);
  return text;
}

std::string AttemptText(const DumpAttempt& attempt) {
  const std::string task = attempt.task.empty() ? "a task" : fmt::format("task {}", OneLine(attempt.task));
  return fmt::format("    <works for {}: node {} of run {}>\n", task, attempt.node, attempt.run);
}

std::string ThreadText(const DumpThread& thread, bool full, const Style& style) {
  std::string text = HeadLine(thread, style);
  if (thread.attempt) text += AttemptText(*thread.attempt);
  const bool root_part = thread.reject == "torn";
  if (root_part) text += "    <the thread ran on while it was read: only what stayed the same is shown>\n";
  for (const DumpFrame& frame : thread.frames) text += FrameText(frame, full, style);
  if (thread.truncated) text += "    <truncated>\n";
  if (!thread.native_end.empty()) text += fmt::format("    <native frames end: {}>\n", thread.native_end);
  if (!thread.reject.empty() && !root_part) text += fmt::format("    <{}>\n", thread.reject);
  for (const DumpTask& task : thread.tasks) text += TaskText(task, full, style);
  return text;
}

std::string ProcessText(const DumpProcess& process, bool full, const Style& style) {
  std::string text = process.core.empty() ? "" : fmt::format("Core file {}\n", OneLine(process.core));
  text += fmt::format("Process {}: {}\n", process.pid, OneLine(process.command_line));
  text += fmt::format("Python v{} ({})\n", process.version, OneLine(process.path));
  if (!process.note.empty()) text += fmt::format("Note: {}\n", OneLine(process.note));
  for (const DumpThread& thread : process.threads) text += "\n" + ThreadText(thread, full, style);
  if (!process.other_tasks.empty()) text += "\nTasks whose thread is not known\n";
  for (const DumpTask& task : process.other_tasks) text += TaskText(task, full, style);
  if (!process.asyncio.empty()) text += fmt::format("\n{}\n", process.asyncio);
  uint64_t rejected = 0;
  for (const auto& [reason, count] : process.rejects) rejected += count;
  if (rejected != 0) text += fmt::format("\n{} of {} stacks not whole\n", rejected, process.threads.size());
  return text;
}

nlohmann::json TextOrNull(const std::string& text) { return text.empty() ? nlohmann::json() : nlohmann::json(text); }

nlohmann::json LocalJson(const DumpLocal& local) {
  return {{"name", local.name}, {"addr", local.address}, {"arg", local.argument}, {"repr", local.text}};
}

nlohmann::json NativeFrameJson(const DumpFrame& frame) {
  const std::string& file = frame.line > 0 ? frame.filename : frame.module;
  return {{"name", frame.name.empty() ? fmt::format("{:#x}", frame.address) : frame.name},
          {"qualname", nullptr},
          {"filename", file},
          {"short_filename", BaseName(file)},
          {"module", TextOrNull(frame.module)},
          {"line", frame.line},
          {"source", nullptr},
          {"locals", nullptr},
          {"kind", "native"},
          {"inlined", frame.inlined},
          {"address", frame.address}};
}

nlohmann::json FrameJson(const DumpFrame& frame, bool with_locals) {
  if (frame.native) return NativeFrameJson(frame);
  nlohmann::json locals;
  if (with_locals) locals = nlohmann::json::array();
  for (const DumpLocal& local : frame.locals) locals.push_back(LocalJson(local));
  return {{"name", frame.name.empty() ? std::string(kUnreadable) : frame.name},
          {"qualname", TextOrNull(frame.qualname)},
          {"filename", frame.filename},
          {"short_filename", frame.short_filename},
          {"module", nullptr},
          {"line", frame.line},
          {"source", TextOrNull(frame.source)},
          {"locals", std::move(locals)},
          {"kind", frame.marker ? "marker" : "python"}};
}

nlohmann::json TasksJson(const std::vector<DumpTask>& tasks, const Dump& dump) {
  if (!dump.with_tasks) return {};
  nlohmann::json list = nlohmann::json::array();
  for (const DumpTask& task : tasks) {
    nlohmann::json frames = nlohmann::json::array();
    for (const DumpFrame& frame : task.frames) frames.push_back(FrameJson(frame, dump.with_locals));
    list.push_back({{"name", TextOrNull(task.name)},
                    {"state", task.state},
                    {"awaits_task", TextOrNull(task.awaited_task)},
                    {"truncated", task.truncated},
                    {"frames", std::move(frames)}});
  }
  return list;
}

nlohmann::json ProcessJson(const DumpProcess& process, const Dump& dump) {
  return {{"asyncio", TextOrNull(process.asyncio)},
          {"other_tasks", TasksJson(process.other_tasks, dump)},
          {"pid", process.pid},
          {"command_line", process.command_line},
          {"parent", nullptr},
          {"python_version", process.version},
          {"python", process.path},
          {"note", TextOrNull(process.note)},
          {"core", TextOrNull(process.core)},
          {"rejects", process.rejects}};
}

nlohmann::json AttemptJson(const std::optional<DumpAttempt>& attempt) {
  if (!attempt) return {};
  return {{"task", TextOrNull(attempt->task)},
          {"run", attempt->run},
          {"node", attempt->node},
          {"attempt", attempt->attempt}};
}

nlohmann::json ThreadJson(const DumpThread& thread, const DumpProcess& process, const Dump& dump) {
  nlohmann::json frames = nlohmann::json::array();
  for (const DumpFrame& frame : thread.frames) frames.push_back(FrameJson(frame, dump.with_locals));
  return {{"pid", process.pid},
          {"thread_id", thread.pthread_id},
          {"os_thread_id", thread.tid == 0 ? nlohmann::json() : nlohmann::json(thread.tid)},
          {"thread_name", TextOrNull(thread.name)},
          {"active", thread.state == "?" ? nlohmann::json() : nlohmann::json(thread.active)},
          {"owns_gil", thread.holds_gil},
          {"state", thread.state},
          {"interpreter", thread.interpreter},
          {"truncated", thread.truncated},
          {"has_python", thread.has_python},
          {"native_end", TextOrNull(thread.native_end)},
          {"reject", TextOrNull(thread.reject)},
          {"frames", std::move(frames)},
          {"tasks", TasksJson(thread.tasks, dump)},
          {"attempt", AttemptJson(thread.attempt)},
          {"process_info", ProcessJson(process, dump)}};
}

}  // namespace

std::string DumpText(const Dump& dump, const Style& style) {
  std::string text;
  for (const DumpProcess& process : dump.processes) {
    if (!text.empty()) text += '\n';
    text += ProcessText(process, dump.full_filenames, style);
  }
  return text;
}

std::string DumpJson(const Dump& dump) {
  nlohmann::json threads = nlohmann::json::array();
  for (const DumpProcess& process : dump.processes) {
    for (const DumpThread& thread : process.threads) threads.push_back(ThreadJson(thread, process, dump));
  }
  return ToText(threads);
}

}  // namespace wf::report
