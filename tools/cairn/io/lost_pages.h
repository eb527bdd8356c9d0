// Handles the loss of pages when a mapped file is cut short.
#ifndef CAIRN_TOOLS_CAIRN_IO_LOST_PAGES_H_
#define CAIRN_TOOLS_CAIRN_IO_LOST_PAGES_H_

namespace cairn::tool {

// From now on, reading a page that its file has lost ends the process as damage does, with one line
// and kExitFailure, and does not kill it with SIGBUS.
void ReportLostPages();

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_LOST_PAGES_H_
