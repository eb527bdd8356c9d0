// Draws results as SVG.
#ifndef CAIRN_TOOLS_BENCH_RESULTS_PLOT_H_
#define CAIRN_TOOLS_BENCH_RESULTS_PLOT_H_

#include <string>
#include <vector>

#include "tools/bench/results/contest.h"
#include "tools/bench/results/growth.h"

namespace cairn::bench {

struct Panel {
  std::string svg;  // drawn from (0, 0) on
  double height = 0;
};

// Draws a bar for each contestant, as long as its time (or its rate, if the question is in GB/s).
Panel DrawBars(const Result& result);
// Draws a line for each curve over logarithmic axes.
Panel DrawCurves(const Growth& growth);
// Makes a complete file, with panels one below the other.
std::string Stack(const std::vector<Panel>& panels);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_RESULTS_PLOT_H_
