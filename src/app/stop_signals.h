// StopSignals: SIGINT, SIGTERM and SIGHUP end a recording instead of the process, as long as one of these is alive.
//
// With a launched program: Ctrl-C at the terminal reaches the program too, which decides what it means; so the first
// one does not end the recording, which goes on until the program ended. SIGTERM and SIGHUP that another process sent
// to us were meant for the program: they are passed on to it.
//
// SIGUSR1 asks for what was recorded so far.
//
// One at a time in a process.
#ifndef WF_APP_STOP_SIGNALS_H_
#define WF_APP_STOP_SIGNALS_H_

#include <array>
#include <csignal>
#include <cstdint>

namespace wf::app {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  bool stopped() const;
  // Whether SIGUSR1 came since the call before.
  bool TakeRequest() const;
  // From now on signals are passed on to this program; 0: no more. REQUIRES: it was not waited for yet.
  void PassOnTo(int32_t pid);
  // In the child, before it executes the program: signals are as they were for us at our start.
  void RestoreInChild() const;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace wf::app

#endif  // WF_APP_STOP_SIGNALS_H_
