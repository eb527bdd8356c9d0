// Chooses the ticks of an axis and their labels.
#ifndef CAIRN_TOOLS_CAIRN_PLOT_TICKS_H_
#define CAIRN_TOOLS_CAIRN_PLOT_TICKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/record.h"

namespace cairn::tool {

struct Tick {
  double at = 0;  // 0 at the begin of the axis, 1 at its end
  std::string label;
  std::string more = {};  // below the label: the date, if it differs from the one before
};

// Returns ticks at round numbers, at most `most` of them.
std::vector<Tick> NumberTicks(double low, double high, int most);

// Returns ticks of times, in UTC. begin < end. Without a unit they are plain numbers.
std::vector<Tick> TimeTicks(int64_t begin, int64_t end, std::optional<TimeUnit> unit, int most);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_PLOT_TICKS_H_
