// Holds back signals that end the tool while there is something to clean up.
#ifndef CAIRN_TOOLS_CAIRN_IO_HELD_SIGNALS_H_
#define CAIRN_TOOLS_CAIRN_IO_HELD_SIGNALS_H_

#include <csignal>

#include "absl/status/status.h"

namespace cairn::tool {

// Holds back SIGINT, SIGTERM and SIGHUP, if they would end the process, until it is destroyed. A
// signal that came meanwhile then ends the process. Make this before any thread, because older
// threads would not hold them back.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

  // Errors: kAborted once a signal has come.
  absl::Status Check() const;
  // Waits until there is something to read. Errors: kAborted if a signal comes first.
  absl::Status WaitToRead(int descriptor) const;

 private:
  absl::Status Wait(int descriptor, int milliseconds) const;

  sigset_t before_;
  int arrived_;  // a descriptor that can be read once a signal has come
};

// Returns true if a signal has come that is held back. Any thread may ask.
bool SignalHasCome();
absl::Status StoppedBySignal();

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_HELD_SIGNALS_H_
