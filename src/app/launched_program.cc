#include "app/launched_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/fd.h"

namespace wf::app {
namespace {

constexpr int kSignalled = 128;

Status CannotStart(const std::string& program, int error) {
  const Code code = error == ENOENT || error == ENOTDIR                     ? Code::kNotFound
                    : error == EACCES || error == EPERM || error == ENOEXEC ? Code::kPermissionDenied
                                                                            : Code::kIo;
  const char* why = error == ENOENT ? "no such program" : std::strerror(error);
  return {code, fmt::format("cannot start {}: {}", program, why)};
}

void Use(const ProgramStreams& streams) {
  const std::array<std::pair<int, int>, 3> all = {
      {{streams.input, STDIN_FILENO}, {streams.output, STDOUT_FILENO}, {streams.error, STDERR_FILENO}}};
  for (const auto& [from, to] : all) {
    if (from >= 0) ::dup2(from, to);
  }
}

// Reports errno through the pipe, which closes by itself when the program is executed.
[[noreturn]] void Become(char* const* argv, int report) {
  ::execvp(argv[0], argv);
  const int error = errno;
  const ssize_t ignored = ::write(report, &error, sizeof(error));
  ::_exit(ignored >= 0 ? 127 : 126);
}

// 0 when the program is executed by now.
int ErrorOfStart(int pipe) {
  int error = 0;
  ssize_t got = 0;
  while ((got = ::read(pipe, &error, sizeof(error))) < 0 && errno == EINTR) {
  }
  return got == sizeof(error) ? error : 0;
}

}  // namespace

LaunchExit ExitOfStart(const Status& error) {
  return error.code() == Code::kNotFound           ? kNoSuchProgram
         : error.code() == Code::kPermissionDenied ? kCannotExecute
                                                   : kOwnFailure;
}

Result<LaunchedProgram> LaunchedProgram::Start(const std::vector<std::string>& command, StopSignals& signals,
                                               const ProgramStreams& streams) {
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return CannotStart(command[0], errno);
  base::Fd read_end(ends[0]);
  base::Fd write_end(ends[1]);
  // A signal between fork and here would be passed on to nobody.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int error = errno;
  if (pid == 0) {
    signals.RestoreInChild();
    Use(streams);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    Become(argv.data(), write_end.get());
  }
  if (pid > 0) signals.PassOnTo(pid);
  // From here on nobody who stopped to read what we say may cost the program its exit code.
  if (pid > 0) ::signal(SIGPIPE, SIG_IGN);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return CannotStart(command[0], error);
  write_end.Reset(-1);
  LaunchedProgram program(pid, &signals);
  const int exec_error = ErrorOfStart(read_end.get());
  if (exec_error == 0) return program;
  program.Wait();
  return CannotStart(command[0], exec_error);
}

bool LaunchedProgram::HasEnded() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid_;
}

int LaunchedProgram::Wait() {
  siginfo_t info{};
  // It is looked at first and reaped only when no signal is passed on any more: its number must not be somebody else's.
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  signals_->PassOnTo(0);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace wf::app
