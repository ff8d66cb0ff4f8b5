#include "app/sampler_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/version.h"
#include "sampler/gate.h"

extern char** environ;

namespace wf::app {
namespace {

constexpr int kStartMs = 5'000;
constexpr int kEndMs = 1'000;
constexpr int kStopMs = 10'000;  // a busy disk; a long last piece

Status CannotStart(const std::string& program, int error) {
  return {error == ENOENT ? Code::kNotFound : Code::kIo,
          fmt::format("the sampler {} cannot be started: {}", program, std::strerror(error))};
}

// Signals as a program expects them: what we block or ignore is no business of the sampler's.
class SpawnSettings {
 public:
  explicit SpawnSettings(int channel) {
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, channel, kSampleRunChannel);
    for (const int stream : {0, 1, 2}) {
      posix_spawn_file_actions_addopen(&actions_, stream, "/dev/null", stream == 0 ? O_RDONLY : O_WRONLY, 0);
    }
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

// The process that is started only forks and ends: its child, the sampler, is nobody's child then.
Status Spawn(const std::string& program, const std::string& document, int channel) {
  const SpawnSettings settings(channel);
  std::string name = "wf";
  std::string word(kSampleRunWord);
  std::string text = document;
  const std::array<char*, 4> argv = {name.data(), word.data(), text.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), settings.actions(), settings.attributes(), argv.data(), environ);
  if (error != 0) return CannotStart(program, error);
  // The program may have waited for it already, or ignore SIGCHLD: then there is nothing left to wait for.
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {};
}

// The next message; nullopt: none came in that time, or the other end is closed.
std::optional<SamplerMessage> Receive(int channel, int timeout_ms) {
  pollfd wanted{channel, POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&wanted, 1, timeout_ms)) < 0 && errno == EINTR) {
  }
  SamplerMessage message;
  if (ready <= 0 || recv(channel, &message, sizeof(message), 0) != sizeof(message)) return std::nullopt;
  message.version[sizeof(message.version) - 1] = message.problem[sizeof(message.problem) - 1] = '\0';
  return message;
}

Status CheckHello(const std::string& program, const std::optional<SamplerMessage>& hello) {
  if (!hello) {
    return {Code::kFailedPrecondition,
            fmt::format("the sampler {} does not answer; is it `wf` of version {}?", program, Version())};
  }
  if (hello->version != Version()) {
    return {Code::kFailedPrecondition,
            fmt::format("the sampler {} is of version {} and the package of {}: install both anew", program,
                        hello->version, Version())};
  }
  if (hello->pid == 0) return {Code::kIo, hello->problem};
  return {};
}

int OpenPidfd(int32_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace

void AllowTracer(int32_t tracer) {
  if (sampler::YamaScope() == 1) prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
}

SamplerProcess::SamplerProcess(base::Fd channel, base::Fd handle, int32_t pid)
    : owner_(getpid()), pid_(pid), channel_(std::move(channel)), handle_(std::move(handle)) {}

SamplerProcess::~SamplerProcess() { (void)Stop(); }

Result<std::unique_ptr<SamplerProcess>> SamplerProcess::Start(const std::string& program,
                                                              const SampleRunOptions& options) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return CannotStart(program, errno);
  base::Fd ours(ends[0]);
  base::Fd theirs(ends[1]);
  // dup2 onto itself would leave it closed on exec.
  if (theirs.get() == kSampleRunChannel) theirs = base::Fd(fcntl(theirs.get(), F_DUPFD_CLOEXEC, kSampleRunChannel + 1));
  WF_RETURN_IF_ERROR(Spawn(program, SampleRunDocument(options), theirs.get()));
  theirs.Reset(-1);
  const std::optional<SamplerMessage> hello = Receive(ours.get(), kStartMs);
  WF_RETURN_IF_ERROR(CheckHello(program, hello));
  AllowTracer(hello->pid);
  base::Fd handle(OpenPidfd(hello->pid));
  std::unique_ptr<SamplerProcess> sampler(new SamplerProcess(std::move(ours), std::move(handle), hello->pid));
  sampler->Watch(getpid(), 1);
  return sampler;
}

void SamplerProcess::Watch(int32_t pid, uint32_t process) {
  const std::lock_guard lock(mutex_);
  const WatchMessage message{pid, process};
  if (channel_.valid()) (void)send(channel_.get(), &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Where we are the first process of a container it became our child when its parent ended.
void SamplerProcess::ReapWhereItIsOurs() const {
  if (owner_ != 1) return;
  pollfd ended{handle_.get(), POLLIN, 0};
  (void)poll(&ended, 1, kEndMs);
  (void)waitpid(pid_, nullptr, WNOHANG);
}

Status SamplerProcess::Stop() {
  if (getpid() != owner_) return {};  // a fork: the sampler is the parent's
  const std::lock_guard lock(mutex_);
  if (!channel_.valid()) return {};
  const base::Fd channel = std::move(channel_);
  // Not only close: a forked child may hold a copy of our end.
  shutdown(channel.get(), SHUT_WR);
  const std::optional<SamplerMessage> last = Receive(channel.get(), kStopMs);
  if (!last) {
    if (handle_.valid()) syscall(SYS_pidfd_send_signal, handle_.get(), SIGKILL, nullptr, 0);
    return {Code::kIo, fmt::format("the sampler (process {}) ended or hung before it had written everything", pid_)};
  }
  ReapWhereItIsOurs();
  if (last->problem[0] != '\0') return {Code::kFailedPrecondition, last->problem};
  return {};
}

}  // namespace wf::app
