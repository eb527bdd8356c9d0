#include "tools/cairn/io/stdout_watch.h"

#include <csignal>
#include <poll.h>
#include <unistd.h>

namespace cairn::tool {

void EndOnSignals() {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::signal(signal, [](int /*signal*/) { _exit(0); });
  }
}

bool WaitWhileStdoutIsOpen(std::chrono::milliseconds pause) {
  pollfd output = {.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  poll(&output, 1, static_cast<int>(pause.count()));
  return output.revents == 0;
}

}  // namespace cairn::tool
