// What becomes of the tool when a file that it has mapped is cut short.
#ifndef CAIRN_TOOLS_CAIRN_IO_LOST_PAGES_H_
#define CAIRN_TOOLS_CAIRN_IO_LOST_PAGES_H_

namespace cairn::tool {

// From now on reading a page that its file has lost ends the process as damage does, with one line
// and kExitFailure, instead of killing it with SIGBUS.
void ReportLostPages();

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_LOST_PAGES_H_
