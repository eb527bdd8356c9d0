// Shows who holds old generations of a frame, for people and for programs.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_HOLDERS_H_
#define CAIRN_TOOLS_CAIRN_REPORT_HOLDERS_H_

#include <string>
#include <vector>

#include "cairn/reports.h"
#include "tools/cairn/text/json.h"

namespace cairn::tool {

// Returns a text such as "generation 17, by process 4711, which has run for 3 min".
std::string DescribeHolder(const GenerationHolder& holder);
Json JsonOfHolders(const std::vector<GenerationHolder>& holders);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_HOLDERS_H_
