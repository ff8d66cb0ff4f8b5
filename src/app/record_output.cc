#include "app/record_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/export.h"
#include "app/record_store.h"
#include "base/atomic_file.h"
#include "report/recording.h"
#include "sampler/proc_files.h"

namespace wf::app {
namespace {

namespace fs = std::filesystem;
using Say = std::function<void(const std::string&)>;

// What people call it: the script, else the program.
std::string NameOf(const RecordRequest& request) {
  std::string name;
  if (request.pid != 0) {
    const auto status = sampler::ReadStatus(request.pid);
    name = status ? status->name : "";
  } else {
    const auto script = std::find_if(request.command.begin(), request.command.end(),
                                     [](const std::string& word) { return word.ends_with(".py"); });
    name = fs::path(script == request.command.end() ? request.command[0] : *script).stem().string();
  }
  std::replace(name.begin(), name.end(), '/', '_');
  return name.empty() ? "recording" : name;
}

std::string OutputOf(const RecordRequest& request, const profile::ExportFormat& format) {
  if (!request.output.empty()) return request.output;
  std::array<char, 32> time{};
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  (void)std::strftime(time.data(), time.size(), "%Y-%m-%dT%H%M%S", &parts);
  return fmt::format("{}-{}{}", NameOf(request), time.data(), format.suffix);
}

class FileOutput final : public RecordOutput {
 public:
  FileOutput(const RecordRequest& request, const profile::ExportFormat& format, std::string path, base::AtomicFile file)
      : request_(request), format_(format), path_(std::move(path)), file_(std::move(file)) {}

  Status WriteSoFar(RecordSession& session, const Say& say) override {
    if (!file_.is_put_in_place()) return {Code::kFailedPrecondition, path_ + " is written at the end only"};
    Result<base::AtomicFile> file = base::AtomicFile::Create(path_);
    if (!file.ok()) return file.status();
    const profile::StackProfile profile = session.SoFar();
    WF_RETURN_IF_ERROR(WriteTo(*file, profile));
    say("so far in " + report::RecordingText(profile.meta, path_));
    return {};
  }

  Status Write(RecordSession& session, const Say& say) override {
    const profile::StackProfile profile = session.Finish();
    Status status = WriteTo(file_, profile);
    if (!status.ok() && status.code() == Code::kIo) {
      // A full disk must not cost what was sampled.
      std::error_code no_folder;
      const std::string elsewhere = (fs::temp_directory_path(no_folder) / fs::path(path_).filename()).string();
      Result<base::AtomicFile> other = base::AtomicFile::Create(elsewhere);
      if (other.ok() && WriteTo(*other, profile).ok()) {
        say(status.message() + "; it is in " + elsewhere);
        path_ = elsewhere;
        status = Status();
      }
    }
    if (status.ok()) say(report::RecordingText(profile.meta, path_));
    return status;
  }

 private:
  Status WriteTo(base::AtomicFile& file, const profile::StackProfile& profile) {
    profile::ExportOptions options = request_.shown;
    if (!options.read_source) options.read_source = &ReadPythonSource;
    if (request_.tasks) options.task_of = [&](uint64_t attempt) { return profile.attempts.at(attempt - 1).task; };
    format_.write(profile, options, file.stream());
    return file.Commit();
  }

  const RecordRequest& request_;
  const profile::ExportFormat& format_;
  std::string path_;
  base::AtomicFile file_;
};

class StoreOutput final : public RecordOutput {
 public:
  explicit StoreOutput(RecordStore store) : store_(std::move(store)) {}

  RecordSink* sink() override { return &store_; }

  // Each piece is written as it comes.
  Status WriteSoFar(RecordSession& session, const Say& say) override {
    say("so far in " + report::RecordingText(session.SoFar().meta, store_.Where()));
    return {};
  }

  Status Write(RecordSession& session, const Say& say) override {
    const profile::StackMeta meta = session.Finish().meta;
    WF_RETURN_IF_ERROR(store_.Close(meta.start_ns + meta.duration_ns));
    say(report::RecordingText(meta, store_.Where()));
    return {};
  }

 private:
  RecordStore store_;
};

}  // namespace

Result<std::unique_ptr<RecordOutput>> RecordOutput::Open(const RecordRequest& request) {
  if (request.format == kStoreFormat) {
    if (!request.output.empty()) {
      return Status(Code::kInvalidArgument, "--output: with --format store it goes to the store; --store DIR names it");
    }
    if (request.tasks) {
      return Status(Code::kInvalidArgument,
                    "--tasks: with --format store the tasks are always in; give --tasks to wf export");
    }
    Result<RecordStore> store = RecordStore::Open(request.store, NameOf(request), request.command);
    if (!store.ok()) return store.status();
    return std::unique_ptr<RecordOutput>(std::make_unique<StoreOutput>(std::move(*store)));
  }
  const profile::ExportFormat* format = profile::FindExportFormat(request.format);
  if (format == nullptr) return Status(Code::kInvalidArgument, fmt::format("'{}' is no format", request.format));
  std::string path = OutputOf(request, *format);
  if (request.pid == 0 && path == "-") {
    return Status(Code::kInvalidArgument, "--output -: standard output is the program's; name a file");
  }
  Result<base::AtomicFile> file = base::AtomicFile::Create(path);
  if (!file.ok()) return file.status();
  if (request.flush_ns > 0 && !file->is_put_in_place()) {
    return Status(Code::kInvalidArgument, fmt::format("--flush: {} can be written only once; name a file",
                                                      path == "-" ? "standard output" : path));
  }
  return std::unique_ptr<RecordOutput>(
      std::make_unique<FileOutput>(request, *format, std::move(path), std::move(*file)));
}

}  // namespace wf::app
