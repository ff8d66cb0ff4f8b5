#include "app/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <optional>
#include <utility>

#include "app/export.h"
#include "app/launched_program.h"
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

// One recording on its way to its file.
class Recording {
 public:
  Recording(const RecordRequest& request, const profile::ExportFormat& format, std::string path, base::AtomicFile file)
      : request_(request), format_(format), path_(std::move(path)), file_(std::move(file)) {}

  Status Write(RecordSession& session, const Say& say) {
    const profile::StackProfile profile = session.Finish();
    Status status = WriteTo(file_, profile);
    if (!status.ok() && status.code() == Code::kIo) {
      // A full disk must not cost what was sampled.
      const std::string elsewhere = (fs::temp_directory_path() / fs::path(path_).filename()).string();
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

Result<int> RecordProcess(const RecordRequest& request, Recording& recording, const Say& say) {
  const StopSignals signals;
  RecordSession session(request.pid, request.options, [&] { return signals.stopped(); });
  WF_RETURN_IF_ERROR(session.Attach());
  say(fmt::format("recording process {} at {:g} Hz; Ctrl-C ends it", request.pid, request.options.rate_hz));
  session.Run();
  if (!session.saw_python()) {
    return Status(Code::kFailedPrecondition, fmt::format("process {} ended before it was read", request.pid));
  }
  WF_RETURN_IF_ERROR(recording.Write(session, say));
  return 0;
}

int RecordProgram(const RecordRequest& request, Recording& recording, const Say& say) {
  StopSignals signals;
  Result<LaunchedProgram> program = LaunchedProgram::Start(request.command, signals);
  if (!program.ok()) {
    say(program.status().message());
    return program.status().code() == Code::kNotFound           ? kNoSuchProgram
           : program.status().code() == Code::kPermissionDenied ? kCannotExecute
                                                                : kOwnFailure;
  }
  RecordOptions options = request.options;
  options.below = true;
  RecordSession session(program->pid(), options, [&] { return signals.stopped(); });
  session.Run();
  Status status(Code::kNotFound, "nothing is written: there was no Python to read in " + request.command[0]);
  if (session.saw_python()) status = recording.Write(session, say);
  if (!status.ok()) say(status.message());
  return program->Wait();
}

}  // namespace

Result<int> Record(const RecordRequest& request, const Say& say) {
  const profile::ExportFormat* format = profile::FindExportFormat(request.format);
  if (format == nullptr) return Status(Code::kInvalidArgument, fmt::format("'{}' is no format", request.format));
  std::string path = OutputOf(request, *format);
  if (request.pid == 0 && path == "-") {
    return Status(Code::kInvalidArgument, "--output -: standard output is the program's; name a file");
  }
  Result<base::AtomicFile> file = base::AtomicFile::Create(path);
  if (!file.ok()) return file.status();
  Recording recording(request, *format, std::move(path), std::move(*file));
  if (request.pid != 0) return RecordProcess(request, recording, say);
  return RecordProgram(request, recording, say);
}

}  // namespace wf::app
