// Raises what a command may take of the system, and tells what it took.
#ifndef CAIRN_TOOLS_CAIRN_IO_EFFORT_H_
#define CAIRN_TOOLS_CAIRN_IO_EFFORT_H_

#include <chrono>
#include <string>

namespace cairn::tool {

// Returns a line such as "0.93 s, 1.2 s of processor time, 34 MiB of memory, 12 MiB read from disk,
// 3.4 MiB written". Memory is the most at one time. What came from the page cache was not read from
// disk. Leaves the disk out if the system does not say.
std::string DescribeEffort(std::chrono::steady_clock::duration time);

// Lets this process open as many files as its hard limit allows. A log keeps each of its files
// open, a commit of a collection those of its members, and the usual soft limit is 1,024.
void RaiseFileLimit();

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_EFFORT_H_
