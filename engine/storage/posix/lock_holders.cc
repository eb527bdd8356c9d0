#include "engine/storage/posix/lock_holders.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

#include "engine/storage/posix/fd.h"

namespace cairn::storage {

namespace {

namespace fs = std::filesystem;

// Returns the names in a directory that are numbers.
std::vector<int64_t> NumbersIn(const std::string& directory) {
  std::vector<int64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator it(directory, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    int64_t number = 0;
    if (absl::SimpleAtoi(it->path().filename().string(), &number)) numbers.push_back(number);
  }
  return numbers;
}

// Returns the time since the process began.
std::optional<std::chrono::seconds> RunningTime(const std::string& process) {
  constexpr int kBeforeStart = 19;  // between the name, which may hold anything, and the time
  std::ifstream file(process + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.rfind(')'), line.size() - 1) + 1));
  std::string skipped;
  for (int i = 0; i < kBeforeStart; ++i) fields >> skipped;
  int64_t ticks = 0;
  struct timespec now = {};
  const int64_t ticks_a_second = ::sysconf(_SC_CLK_TCK);
  if (!(fields >> ticks) || ticks_a_second <= 0 || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(std::max<int64_t>(0, now.tv_sec - ticks / ticks_a_second));
}

// Adds the locks of one open file to `found`.
void AddLocks(const std::string& path, const Extent& wanted, std::vector<int64_t>& found) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::optional<Extent> lock = ParseLockLine(line);
    if (!lock.has_value() || lock->begin >= wanted.end || lock->end <= wanted.begin) continue;
    found.push_back(std::max(lock->begin, wanted.begin));
  }
}

}  // namespace

std::optional<Extent> ParseLockLine(const std::string& line) {
  // A line has these fields: "lock:", a number, "OFDLCK", "ADVISORY", the mode, -1, device and
  // inode, the first byte, the last byte.
  std::istringstream fields(line);
  std::string label, number, kind, advisory, mode, owner, device, last;
  Extent lock;
  fields >> label >> number >> kind >> advisory >> mode >> owner >> device >> lock.begin >> last;
  if (!fields || label != "lock:" || kind != "OFDLCK" || lock.begin < 0) return std::nullopt;
  lock.end = INT64_MAX;
  if (last == "EOF") return lock;
  int64_t last_byte = 0;
  if (!absl::SimpleAtoi(last, &last_byte) || last_byte < lock.begin) return std::nullopt;
  if (last_byte < INT64_MAX) lock.end = last_byte + 1;
  return lock;
}

std::vector<LockHolder> FindLockHolders(const FileIdentity& file, int64_t offset, int64_t count) {
  const Extent wanted = {offset, offset + count};
  std::vector<LockHolder> holders;
  for (const int64_t pid : NumbersIn("/proc")) {
    const std::string process = absl::StrCat("/proc/", pid);
    std::vector<int64_t> bytes;
    for (const int64_t fd : NumbersIn(process + "/fd")) {
      const std::optional<PosixStat> info =
          StatAt(AT_FDCWD, absl::StrCat(process, "/fd/", fd).c_str(), 0);
      if (!info.has_value() || info->identity != file) continue;
      AddLocks(absl::StrCat(process, "/fdinfo/", fd), wanted, bytes);
    }
    // Duplicates of a descriptor show the same locks.
    std::ranges::sort(bytes);
    bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
    for (const int64_t byte : bytes) {
      holders.push_back({.offset = byte, .pid = pid, .running = RunningTime(process)});
    }
  }
  return holders;
}

}  // namespace cairn::storage
