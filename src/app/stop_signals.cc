#include "app/stop_signals.h"

#include <cerrno>

namespace wf::app {
namespace {

// All that the handler touches.
volatile std::sig_atomic_t g_stopped = 0;
volatile std::sig_atomic_t g_requested = 0;
volatile std::sig_atomic_t g_interrupts = 0;
volatile std::sig_atomic_t g_program = 0;

void Handle(int signal, siginfo_t* info, void*) {
  if (signal == SIGUSR1) {
    g_requested = 1;
    return;
  }
  const int saved = errno;
  const bool by_process = info->si_code <= 0;  // else by the kernel: the terminal, which reaches the program as well
  if (g_program != 0 && signal != SIGINT && by_process) ::kill(g_program, signal);
  if (signal == SIGINT) g_interrupts = g_interrupts + 1;
  const bool left_to_program = signal == SIGINT && g_program != 0 && !by_process && g_interrupts == 1;
  if (!left_to_program) g_stopped = 1;
  errno = saved;
}

}  // namespace

StopSignals::StopSignals() {
  g_stopped = 0;
  g_requested = 0;
  g_interrupts = 0;
  g_program = 0;
  struct sigaction action{};
  action.sa_sigaction = &Handle;
  action.sa_flags = SA_SIGINFO;  // without SA_RESTART: a sleep ends at once
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals.at(i), nullptr, &before_.at(i));
    // nohup: whoever had us ignore the end of the terminal meant it.
    const bool is_ignored = kSignals.at(i) == SIGHUP && before_.at(i).sa_handler == SIG_IGN;
    if (!is_ignored) ::sigaction(kSignals.at(i), &action, nullptr);
  }
}

StopSignals::~StopSignals() { RestoreInChild(); }

void StopSignals::RestoreInChild() const {
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals.at(i), &before_.at(i), nullptr);
}

bool StopSignals::stopped() const { return g_stopped != 0; }

bool StopSignals::TakeRequest() const {
  const bool requested = g_requested != 0;
  g_requested = 0;
  return requested;
}

void StopSignals::PassOnTo(int32_t pid) { g_program = pid; }

}  // namespace wf::app
