// Where an axis has ticks, and what they say.
#ifndef CAIRN_TOOLS_CAIRN_PLOT_TICKS_H_
#define CAIRN_TOOLS_CAIRN_PLOT_TICKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/record.h"

namespace cairn::tool {

struct Tick {
  double at = 0;  // 0 where the axis begins, 1 where it ends
  std::string label;
  std::string more = {};  // below the label: the date, where it is another than that before
};

// At round numbers, at most `most` of them.
std::vector<Tick> NumberTicks(double low, double high, int most);

// Likewise of times, in UTC; begin < end. Without a unit they are plain numbers.
std::vector<Tick> TimeTicks(int64_t begin, int64_t end, std::optional<TimeUnit> unit, int most);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_PLOT_TICKS_H_
