// Tells what a command took, for --verbose.
#ifndef CAIRN_TOOLS_CAIRN_IO_EFFORT_H_
#define CAIRN_TOOLS_CAIRN_IO_EFFORT_H_

#include <chrono>
#include <string>

namespace cairn::tool {

// Returns a line such as "0.93 s, 1.2 s of processor time, 34 MiB of memory, 12 MiB read from disk,
// 3.4 MiB written". Memory is the most at one time. What came from the page cache was not read from
// disk. Leaves the disk out if the system does not say.
std::string DescribeEffort(std::chrono::steady_clock::duration time);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_EFFORT_H_
