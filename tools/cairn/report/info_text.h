// The form of `cairn info` for people.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_INFO_TEXT_H_
#define CAIRN_TOOLS_CAIRN_REPORT_INFO_TEXT_H_

#include <string>

#include "tools/cairn/report/frame_summary.h"

namespace cairn::tool {

std::string TextOfFrame(const FrameSummary& summary);

// A table has a line for each chunk.
std::string ChunkTableHead(Layout layout);
std::string TextOfChunk(const ChunkSummary& chunk);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_INFO_TEXT_H_
