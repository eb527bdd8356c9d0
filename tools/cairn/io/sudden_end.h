// Ends the process with a line where the engine cannot go on.
#ifndef CAIRN_TOOLS_CAIRN_IO_SUDDEN_END_H_
#define CAIRN_TOOLS_CAIRN_IO_SUDDEN_END_H_

namespace cairn::tool {

// From now on, reading a page that its file has lost ends the process as damage does, with one line
// and kExitFailure, and does not kill it with SIGBUS.
void ReportLostPages();

// From now on, a lack of memory ends the process with one line and kExitFailure. If `json`, it
// prints the object of a failure, too.
void ReportLackOfMemory(bool json);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_SUDDEN_END_H_
