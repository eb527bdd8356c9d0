// The metrics of a frame, for monitoring. docs/operating.md says which of them to watch.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_FRAME_METRICS_H_
#define CAIRN_TOOLS_CAIRN_REPORT_FRAME_METRICS_H_

#include <string>

#include "tools/cairn/report/frame_summary.h"
#include "tools/cairn/report/metrics.h"

namespace cairn::tool {

// Adds the metrics of a frame that could be opened.
void AddFrame(const FrameSummary& summary, Metrics& metrics);

// Adds that the frame at `path` could not be opened.
void AddUnreadableFrame(const std::string& path, Metrics& metrics);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_FRAME_METRICS_H_
