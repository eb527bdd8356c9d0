// Helps commands that write until they are stopped.
#ifndef CAIRN_TOOLS_CAIRN_IO_STDOUT_WATCH_H_
#define CAIRN_TOOLS_CAIRN_IO_STDOUT_WATCH_H_

#include <chrono>

namespace cairn::tool {

// From now on SIGINT and SIGTERM end the process with status 0. A reader has nothing to clean up. A
// write that waits for the pipe ends too, because the other end may never read the rest.
void EndOnSignals();

// Waits. Returns false as soon as standard output was closed.
bool WaitWhileStdoutIsOpen(std::chrono::milliseconds pause);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_STDOUT_WATCH_H_
