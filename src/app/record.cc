#include "app/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "app/export.h"
#include "app/record_store.h"
#include "app/stop_signals.h"
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

// Where a recording ends up.
class Output {
 public:
  virtual ~Output() = default;
  virtual RecordSink* sink() { return nullptr; }
  virtual Status Write(RecordSession& session, const Say& say) = 0;
};

class FileOutput final : public Output {
 public:
  FileOutput(const RecordRequest& request, const profile::ExportFormat& format, std::string path, base::AtomicFile file)
      : request_(request), format_(format), path_(std::move(path)), file_(std::move(file)) {}

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
    format_.write(profile, options, file.stream());
    return file.Commit();
  }

  const RecordRequest& request_;
  const profile::ExportFormat& format_;
  std::string path_;
  base::AtomicFile file_;
};

class StoreOutput final : public Output {
 public:
  explicit StoreOutput(RecordStore store) : store_(std::move(store)) {}

  RecordSink* sink() override { return &store_; }

  Status Write(RecordSession& session, const Say& say) override {
    const profile::StackMeta meta = session.Finish().meta;
    WF_RETURN_IF_ERROR(store_.Close(meta.start_ns + meta.duration_ns));
    say(report::RecordingText(meta, store_.Where()));
    return {};
  }

 private:
  RecordStore store_;
};

Result<std::unique_ptr<Output>> OpenOutput(const RecordRequest& request) {
  if (request.format == kStoreFormat) {
    if (!request.output.empty()) {
      return Status(Code::kInvalidArgument, "--output: with --format store it goes to the store; --store DIR names it");
    }
    Result<RecordStore> store = RecordStore::Open(request.store, NameOf(request), request.command);
    if (!store.ok()) return store.status();
    return std::unique_ptr<Output>(std::make_unique<StoreOutput>(std::move(*store)));
  }
  const profile::ExportFormat* format = profile::FindExportFormat(request.format);
  if (format == nullptr) return Status(Code::kInvalidArgument, fmt::format("'{}' is no format", request.format));
  std::string path = OutputOf(request, *format);
  if (request.pid == 0 && path == "-") {
    return Status(Code::kInvalidArgument, "--output -: standard output is the program's; name a file");
  }
  Result<base::AtomicFile> file = base::AtomicFile::Create(path);
  if (!file.ok()) return file.status();
  return std::unique_ptr<Output>(std::make_unique<FileOutput>(request, *format, std::move(path), std::move(*file)));
}

Result<int> RecordProcess(const RecordRequest& request, Output& output, const Say& say) {
  const StopSignals signals;
  RecordSession session(request.pid, request.options, [&] { return signals.stopped(); }, output.sink());
  WF_RETURN_IF_ERROR(session.Attach());
  say(fmt::format("recording process {} at {:g} Hz; Ctrl-C ends it", request.pid, request.options.rate_hz));
  session.Run();
  if (!session.saw_python()) {
    return Status(Code::kFailedPrecondition, fmt::format("process {} ended before it was read", request.pid));
  }
  WF_RETURN_IF_ERROR(output.Write(session, say));
  return 0;
}

int RecordProgram(const RecordRequest& request, Output& output, const Say& say) {
  StopSignals signals;
  Result<LaunchedProgram> program = LaunchedProgram::Start(request.command, signals);
  if (!program.ok()) {
    say(program.status().message());
    return ExitOfStart(program.status());
  }
  RecordOptions options = request.options;
  options.below = true;
  RecordSession session(program->pid(), options, [&] { return signals.stopped(); }, output.sink());
  session.Run();
  Status status(Code::kNotFound, "nothing is written: there was no Python to read in " + request.command[0]);
  if (session.saw_python()) status = output.Write(session, say);
  if (!status.ok()) say(status.message());
  return program->Wait();
}

}  // namespace

Result<int> Record(const RecordRequest& request, const Say& say) {
  Result<std::unique_ptr<Output>> output = OpenOutput(request);
  if (!output.ok()) return output.status();
  if (request.pid != 0) return RecordProcess(request, **output, say);
  return RecordProgram(request, **output, say);
}

}  // namespace wf::app
