#include "tools/cairn/io/sudden_end.h"

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <unistd.h>

#include "tools/cairn/text/exit.h"

namespace cairn::tool {

namespace {

constexpr std::string_view kLostPages =
    "cairn: a file was truncated while it was read, or its disk cannot read it\n";
constexpr std::string_view kNoMemory = "cairn: out of memory\n";
constexpr std::string_view kNoMemoryJson =
    "{\n"
    "  \"error\": \"out of memory\",\n"
    "  \"code\": \"RESOURCE_EXHAUSTED\",\n"
    "  \"exit_status\": 1\n"
    "}\n";

// Writes without memory of its own. Whether it succeeds makes no difference.
void Write(int descriptor, std::string_view text) {
  const ssize_t written = write(descriptor, text.data(), text.size());
  (void)written;
}

// A signal handler can unwind nothing. Frames stay as they were last committed.
extern "C" void OnBusError(int /*signal*/) {
  Write(STDERR_FILENO, kLostPages);
  _exit(kExitFailure);
}

template <bool kJson>
void OnLackOfMemory() {
  Write(STDERR_FILENO, kNoMemory);
  if (kJson) Write(STDOUT_FILENO, kNoMemoryJson);
  _exit(kExitFailure);
}

template <bool kJson>
void OnTermination() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      OnLackOfMemory<kJson>();
    } catch (const std::exception& exception) {
      Write(STDERR_FILENO, exception.what());
    }
  }
  std::abort();
}

}  // namespace

void ReportLostPages() {
  struct sigaction action = {};
  action.sa_handler = OnBusError;
  sigaction(SIGBUS, &action, nullptr);
}

void ReportLackOfMemory(bool json) {
  // The engine is compiled without exceptions: std::bad_alloc would leave its locks held. So
  // operator new throws none, and one that libtbb throws ends the process, too.
  std::set_new_handler(json ? &OnLackOfMemory<true> : &OnLackOfMemory<false>);
  std::set_terminate(json ? &OnTermination<true> : &OnTermination<false>);
}

}  // namespace cairn::tool
