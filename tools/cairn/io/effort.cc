#include "tools/cairn/io/effort.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <sys/resource.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/text/units.h"

namespace cairn::tool {

namespace {

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

std::string DescribeEffort(std::chrono::steady_clock::duration time) {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::string text = absl::StrFormat("%.2f s, %.2f s of processor time, %s of memory",
                                     std::chrono::duration<double>(time).count(),
                                     SecondsOf(usage.ru_utime) + SecondsOf(usage.ru_stime),
                                     FormatByteSize(int64_t{usage.ru_maxrss} * 1024));
  std::ifstream file("/proc/self/io");
  std::map<std::string, int64_t> disk;
  std::string name;
  int64_t bytes = 0;
  while (file >> name >> bytes) disk[name] = bytes;
  if (disk.contains("read_bytes:") && disk.contains("write_bytes:")) {
    absl::StrAppend(&text, ", ", FormatByteSize(disk["read_bytes:"]), " read from disk, ",
                    FormatByteSize(disk["write_bytes:"]), " written");
  }
  return text;
}

void RaiseFileLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace cairn::tool
