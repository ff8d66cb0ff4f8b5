#include "app/export.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "analysis/hot_spots.h"
#include "base/atomic_file.h"
#include "store/store.h"

namespace wf::app {
namespace {

constexpr uintmax_t kMostSourceBytes = uintmax_t{4} << 20;

Result<const profile::ExportFormat*> FindFormat(const std::string& name) {
  const profile::ExportFormat* format = profile::FindExportFormat(name);
  if (format != nullptr) return format;
  std::string names;
  for (const profile::ExportFormat& each : profile::ExportFormats()) {
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return Status(Code::kInvalidArgument, fmt::format("'{}' is no format of stacks; there are: {}", name, names));
}

Result<std::set<uint64_t>> AttemptsOf(const profile::RunRecord& record, const std::string& task) {
  std::set<uint64_t> attempts;
  bool is_known = false;
  for (const profile::Task& known : record.tasks) is_known = is_known || known.name == task;
  if (!is_known) {
    return Status(Code::kInvalidArgument,
                  fmt::format("no task of run {} is called '{}' (wf show lists them)", record.run.id.ToString(), task));
  }
  // Ids are dense in a record that was loaded: the node of an attempt and the task of a node are there.
  for (const profile::Attempt& attempt : record.attempts) {
    const profile::Node& node = record.nodes[attempt.node - 1];
    if (record.tasks[node.task - 1].name == task) attempts.insert(attempt.id);
  }
  return attempts;
}

std::function<std::string(uint64_t)> TaskNames(const profile::RunRecord& record) {
  return [tasks = record.tasks, task_of = analysis::TaskOfAttempts(record)](uint64_t attempt) {
    const auto found = task_of.find(attempt);
    return found == task_of.end() ? std::string() : tasks[found->second].name;
  };
}

// Of a recording: those of other runs. By number, with holes where a row was lost.
std::vector<profile::StackAttempt> MetAttempts(const profile::RunRecord& record) {
  std::vector<profile::StackAttempt> met;
  for (const profile::Attempt& attempt : record.attempts) {
    if (attempt.of_run.IsNil() || attempt.id > record.nodes.size()) continue;
    while (met.size() < attempt.id) met.emplace_back().id = met.size();
    const profile::Task& task = record.tasks[record.nodes[attempt.node - 1].task - 1];
    met[attempt.id - 1] = {.id = attempt.id,
                           .run = attempt.of_run,
                           .attempt = attempt.of_attempt,
                           .node = attempt.of_node,
                           .task = task.name,
                           .process = attempt.process,
                           .tid = attempt.tid,
                           .time_ns = attempt.start_ns};
  }
  return met;
}

}  // namespace

std::optional<std::string> ReadPythonSource(const std::string& file) {
  // Only sources: names come from a profile that somebody else may have made, and the page may be passed on.
  const std::filesystem::path path(file);
  const std::string suffix = path.extension().string();
  if (suffix != ".py" && suffix != ".pyw" && suffix != ".pyx" && suffix != ".pxd") return std::nullopt;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMostSourceBytes) return std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

Result<Exported> ExportStacks(const ExportRequest& request) {
  const Result<const profile::ExportFormat*> format = FindFormat(request.format);
  if (!format.ok()) return format.status();
  Result<std::unique_ptr<store::Store>> store = store::Store::Open(store::Locate(request.store), store::Access::kRead);
  if (!store.ok()) return store.status();
  const Result<base::RunId> id = (*store)->Resolve(request.run);
  if (!id.ok()) return id.status();
  Exported done;
  done.run = id->ToString();
  done.path = request.output.empty() ? done.run + std::string((*format)->suffix) : request.output;
  Result<base::AtomicFile> file = base::AtomicFile::Create(done.path);
  if (!file.ok()) return file.status();
  Result<profile::StackProfile> stacks = (*store)->Stacks(*id);
  if (!stacks.ok()) return stacks.status();
  profile::ExportOptions options = request.options;
  if (!request.task.empty() || request.tasks || (*format)->attempts) {
    const Result<profile::RunRecord> record = (*store)->Load(*id);
    if (!record.ok()) return record.status();
    stacks->attempts = MetAttempts(*record);
    if (request.tasks) options.task_of = TaskNames(*record);
    if (!request.task.empty()) {
      Result<std::set<uint64_t>> attempts = AttemptsOf(*record, request.task);
      if (!attempts.ok()) return attempts.status();
      options.attempts = *std::move(attempts);
    }
  }
  if (!options.read_source) options.read_source = &ReadPythonSource;
  (*format)->write(*stacks, options, file->stream());
  done.bytes = file->bytes();
  WF_RETURN_IF_ERROR(file->Commit());
  return done;
}

}  // namespace wf::app
