// --plot of the commands of logs: draws a plot instead of rows.
#ifndef CAIRN_TOOLS_CAIRN_LOG_PLOT_H_
#define CAIRN_TOOLS_CAIRN_LOG_PLOT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include <CLI/CLI.hpp>

#include "cairn/log.h"
#include "tools/cairn/log/what.h"

namespace cairn::tool {

struct PlotFlags {
  std::string path;  // empty: no plot
  std::string title;
  std::vector<std::string> units;  // NAME=TEXT
};
void AddPlot(CLI::App& app, PlotFlags& flags);

// Writes a plot of these fields, each of which is a number. Buckets are at least as long as the
// aggregation says, and there are as many as can be told apart.
absl::Status PlotLog(const std::string& path, const LogSnapshot& log, LogAggregation aggregation,
                     const std::vector<Field>& fields, const PlotFlags& flags);
// Writes a plot with a line for each of these columns, which ParseWhat has made with the
// aggregation.
absl::Status PlotColumns(const std::string& path, const LogSnapshot& log,
                         LogAggregation aggregation, const std::vector<AggColumn>& columns,
                         const PlotFlags& flags);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_LOG_PLOT_H_
