#include "tools/cairn/io/lost_pages.h"

#include <csignal>
#include <string_view>
#include <unistd.h>

#include "tools/cairn/text/exit.h"

namespace cairn::tool {

namespace {

constexpr std::string_view kWhatHappened =
    "cairn: a file was truncated while it was read, or its disk cannot read it\n";

// A signal handler can unwind nothing. Frames stay as they were last committed.
extern "C" void OnBusError(int /*signal*/) {
  const ssize_t written = write(STDERR_FILENO, kWhatHappened.data(), kWhatHappened.size());
  (void)written;
  _exit(kExitFailure);
}

}  // namespace

void ReportLostPages() {
  struct sigaction action = {};
  action.sa_handler = OnBusError;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace cairn::tool
