#include "tools/cairn/io/held_signals.h"

#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace cairn::tool {

namespace {

// An ignored signal would be seen if it was held back.
bool IsIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  sigemptyset(&held);
  pthread_sigmask(SIG_BLOCK, nullptr, &before_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!IsIgnored(signal) && sigismember(&before_, signal) == 0) sigaddset(&held, signal);
  }
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
  arrived_ = signalfd(-1, &held, SFD_CLOEXEC);
  // Without the descriptor the signals would go unseen, so they end the process at once instead.
  if (arrived_ < 0) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

HeldSignals::~HeldSignals() {
  if (arrived_ >= 0) close(arrived_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

absl::Status HeldSignals::Check() const { return Wait(-1, 0); }

absl::Status HeldSignals::WaitToRead(int descriptor) const { return Wait(descriptor, -1); }

absl::Status HeldSignals::Wait(int descriptor, int milliseconds) const {
  std::array<pollfd, 2> wanted = {{{.fd = arrived_, .events = POLLIN, .revents = 0},
                                   {.fd = descriptor, .events = POLLIN, .revents = 0}}};
  while (poll(wanted.data(), wanted.size(), milliseconds) < 0 && errno == EINTR) {
  }
  return wanted[0].revents == 0 ? absl::OkStatus() : StoppedBySignal();
}

bool SignalHasCome() {
  sigset_t pending;
  sigpending(&pending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (sigismember(&pending, signal) == 1) return true;
  }
  return false;
}

absl::Status StoppedBySignal() { return absl::AbortedError("stopped by a signal"); }

}  // namespace cairn::tool
