#include "app/sample_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/watched_process.h"
#include "base/clock.h"
#include "base/version.h"
#include "profile/stack_recorder.h"
#include "sampler/pacer.h"
#include "store/store.h"

namespace wf::app {
namespace {

using sampler::ProcessWatch;

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kPieceNs = 500 * kMs;
// How long a process may be refused to us: a worker says who may read it only when its Python has started.
constexpr int64_t kRefusedNs = 10'000 * kMs;

std::optional<SampleRunOptions> ParseDocument(std::string_view document) {
  const nlohmann::json object = nlohmann::json::parse(document, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  SampleRunOptions options;
  const auto run = base::RunId::Parse(object.value("run", ""));
  options.store = object.value("store", "");
  options.rate_hz = object.value("rate_hz", 0.0);
  options.outside = object.value("outside", true);
  options.command = object.value("command", "");
  if (!run || options.store.empty() || !(options.rate_hz > 0)) return std::nullopt;
  options.run = *run;
  return options;
}

void Send(int32_t pid, const std::string& problem) {
  SamplerMessage message;
  message.pid = pid;
  Version().copy(message.version, sizeof(message.version) - 1);
  problem.copy(message.problem, sizeof(message.problem) - 1);
  (void)send(kSampleRunChannel, &message, sizeof(message), MSG_NOSIGNAL);
}

// Leaves the owner's family and session, and whatever descriptors of the program came along.
void Detach() {
  if (fork() != 0) _exit(0);
  setsid();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  (void)close_range(kSampleRunChannel + 1, ~0U, 0);
  (void)fcntl(kSampleRunChannel, F_SETFD, FD_CLOEXEC);
  prctl(PR_SET_NAME, "wf-sampler");
  prctl(PR_SET_TIMERSLACK, 1'000UL);  // ns
}

// One process of the run.
struct Watched {
  Watched(int32_t pid, uint32_t its_number, int64_t now_ns)
      : number(its_number), since_ns(now_ns), process(pid, {.positions = true}) {}

  uint32_t number;  // in the run
  int64_t since_ns;
  WatchedProcess process;
};

class Sampling {
 public:
  Sampling(const SampleRunOptions& options, store::RunWriter& writer)
      : options_(options), writer_(writer), recorder_(MetaOf(options)), next_piece_ns_(recorder_.meta().start_ns) {}

  void Run() {
    const int64_t start_ns = recorder_.meta().start_ns;
    sampler::Pacer pacer(start_ns, options_.rate_hz);
    pacer.Next(start_ns);
    while (WaitUntil(pacer.deadline_ns())) {
      Round();
      recorder_.CountMissed(pacer.Next(base::MonotonicNs()));
    }
  }

  // All that is left; why nothing or not everything was recorded.
  std::string Finish() {
    const int64_t now_ns = base::MonotonicNs();
    if (seen_ == 0 && problem_.empty()) problem_ = why_not_;
    if (seen_ == 0 && !problem_.empty()) recorder_.CountRejected(problem_);
    recorder_.Finish(now_ns);
    PutPiece(now_ns);
    const Status status = writer_.Close();
    return problem_.empty() && !status.ok() ? status.message() : problem_;
  }

 private:
  static profile::StackMeta MetaOf(const SampleRunOptions& options) {
    profile::StackMeta meta;
    meta.rate_hz = options.rate_hz;
    meta.start_wall_ns = base::WallNs();
    meta.start_ns = base::MonotonicNs();
    meta.command = options.command;
    return meta;
  }

  // False when the run is over. Takes what the owner says meanwhile.
  bool WaitUntil(int64_t time_ns) {
    for (;;) {
      const int64_t left_ns = std::max<int64_t>(0, time_ns - base::MonotonicNs());
      const timespec left{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
      pollfd channel{kSampleRunChannel, POLLIN, 0};
      const int ready = ppoll(&channel, 1, &left, nullptr);
      if (ready > 0 && !TakeMessage()) return false;
      if (ready == 0) return is_told_ ? !watched_.empty() : true;
    }
  }

  bool TakeMessage() {
    WatchMessage message;
    const ssize_t got = recv(kSampleRunChannel, &message, sizeof(message), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got != sizeof(message)) return false;
    is_told_ = true;
    watched_.insert_or_assign(message.pid,
                              std::make_unique<Watched>(message.pid, message.process, base::MonotonicNs()));
    return true;
  }

  void Round() {
    for (auto at = watched_.begin(); at != watched_.end();) {
      at = Look(*at->second) ? std::next(at) : watched_.erase(at);
    }
    recorder_.CountRound();
    const int64_t now_ns = base::MonotonicNs();
    if (now_ns >= next_piece_ns_) PutPiece(now_ns);
  }

  // False when there is nothing more to see of the process.
  bool Look(Watched& watched) {
    const int64_t now_ns = base::MonotonicNs();
    WatchedProcess& process = watched.process;
    process.ReadPositions(now_ns);
    if (process.is_recorded() && !options_.outside && !process.AnySampled()) {
      process.Pause(now_ns);
      return !process.watch().HasEnded();
    }
    const ProcessWatch::Look found = process.ReadStacks(now_ns);
    if (found != ProcessWatch::Look::kSeen) {
      if (why_not_.empty()) why_not_ = process.watch().why_not().message();
      return found != ProcessWatch::Look::kEnded && !IsRefused(watched, now_ns);
    }
    process.Place([this](const context::ThreadEntry* entry, sampler::ThreadSample& thread) { Place(entry, thread); });
    if (!process.is_recorded()) process.RecordTo(recorder_, watched.number);
    process.Record(now_ns);
    ++seen_;
    return true;
  }

  void Place(const context::ThreadEntry* entry, sampler::ThreadSample& thread) const {
    const bool is_ours = entry != nullptr && entry->run == options_.run;
    thread.attempt = is_ours && entry->sampled ? entry->attempt : 0;
    thread.is_wanted = is_ours ? entry->sampled : options_.outside;
  }

  bool IsRefused(const Watched& watched, int64_t now_ns) {
    const Status& why = watched.process.watch().why_not();
    if (why.code() != Code::kPermissionDenied || now_ns - watched.since_ns < kRefusedNs) return false;
    if (problem_.empty()) problem_ = why.message();
    return true;
  }

  void PutPiece(int64_t now_ns) {
    next_piece_ns_ = now_ns + kPieceNs;
    profile::StackDelta piece = recorder_.Take(now_ns);
    std::erase_if(piece.samples, [](const profile::StackSample& sample) { return sample.weight_ns == 0; });
    piece.meta.cost_cpu_ns = base::ProcessCpuNs();
    writer_.PutStacks(std::move(piece));
  }

  const SampleRunOptions& options_;
  store::RunWriter& writer_;
  profile::StackRecorder recorder_;
  std::map<int32_t, std::unique_ptr<Watched>> watched_;
  int64_t next_piece_ns_;
  uint64_t seen_ = 0;
  bool is_told_ = false;  // of the first process
  std::string why_not_;   // the first process could not be read the first time
  std::string problem_;
};

}  // namespace

std::string SampleRunDocument(const SampleRunOptions& options) {
  const nlohmann::json document = {{"run", options.run.ToString()},
                                   {"store", options.store},
                                   {"rate_hz", options.rate_hz},
                                   {"outside", options.outside},
                                   {"command", options.command}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

int SampleRun(std::string_view document) {
  const std::optional<SampleRunOptions> options = ParseDocument(document);
  int type = 0;
  socklen_t size = sizeof(type);
  if (!options || getsockopt(kSampleRunChannel, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return 2;
  Detach();
  auto store = store::Store::Open(options->store, store::Access::kReadWrite);
  if (!store.ok()) {
    Send(0, store.status().message());
    return 3;
  }
  auto writer = (*store)->JoinRun(options->run);
  if (!writer.ok()) {
    Send(0, writer.status().message());
    return 3;
  }
  store->reset();
  Send(getpid(), "");
  Sampling sampling(*options, **writer);
  sampling.Run();
  Send(getpid(), sampling.Finish());
  return 0;
}

}  // namespace wf::app
