// The JSON form of `cairn info`. Its keys are a contract with programs: docs/cli.md lists them.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_INFO_JSON_H_
#define CAIRN_TOOLS_CAIRN_REPORT_INFO_JSON_H_

#include <string>

#include "absl/status/status.h"

#include "tools/cairn/report/frame_summary.h"

namespace cairn::tool {

// Returns one object.
std::string JsonOfFrame(const FrameSummary& summary);

// Returns the object of one frame among several, which cannot be opened.
std::string JsonOfUnreadableFrame(const std::string& path, const absl::Status& why);

// Returns the object of JsonOfFrame, with the array "chunks" open at its end. JsonOfChunk returns
// its elements one by one, each with the comma that it needs.
std::string OpenChunkArray(const std::string& object);
std::string JsonOfChunk(const ChunkSummary& chunk);
std::string CloseChunkArray();

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_INFO_JSON_H_
