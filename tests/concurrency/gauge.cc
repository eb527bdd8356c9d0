#include "tests/concurrency/gauge.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/stat.h>
#include <system_error>

namespace cairn::test {

namespace {

namespace fs = std::filesystem;

// A value of /proc/PID/status; -1 when there is none.
int64_t ValueIn(const std::string& folder, const std::string& key) {
  std::ifstream file(folder + "status");
  std::string word;
  while (file >> word) {
    int64_t value = 0;
    if (word == key + ":" && file >> value) return value;
  }
  return -1;
}

int64_t CountLines(const std::string& path) {
  std::ifstream file(path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

int64_t CountEntries(const std::string& folder) {
  std::error_code error;
  int64_t count = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    ++count;
  }
  return count;
}

}  // namespace

int64_t Figure::MedianOfQuarter(size_t quarter) const {
  const size_t quarter_size = values_.size() / 4;
  if (quarter_size == 0) return 0;
  const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(quarter * quarter_size);
  std::vector<int64_t> values(begin, begin + static_cast<std::ptrdiff_t>(quarter_size));
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

int64_t Figure::most() const { return values_.empty() ? 0 : *std::ranges::max_element(values_); }

bool Figure::Grows() const {
  return static_cast<double>(late()) >
         static_cast<double>(early()) * tolerance_.factor + static_cast<double>(tolerance_.more);
}

ProcessGauge::ProcessGauge(std::string name, pid_t pid) : name_(std::move(name)), pid_(pid) {
  figures_ = {
      // Readers keep states or drop them as the dice fall, and hold 3 to 6 MiB. Pages of mapped
      // files are counted apart: they come and go with the page cache.
      Figure("own KiB", {.factor = 1.05, .more = 4096}),
      Figure("mapped KiB", {.factor = 1.5, .more = 8192}),
      // Each state of a sparse frame that is kept maps up to 256 files.
      Figure("maps", {.factor = 1.05, .more = 512}),
      Figure("descriptors", {.factor = 1.05, .more = 4}),
      Figure("threads", {}),
  };
}

void ProcessGauge::Read() {
  const std::string folder = "/proc/" + std::to_string(pid_) + "/";
  figures_[0].Add(ValueIn(folder, "RssAnon"));
  figures_[1].Add(ValueIn(folder, "RssFile"));
  figures_[2].Add(CountLines(folder + "maps"));
  figures_[3].Add(CountEntries(folder + "fd"));
  figures_[4].Add(ValueIn(folder, "Threads"));
}

int64_t KibOfFolder(const std::string& folder) {
  std::error_code error;
  int64_t blocks = 0;
  fs::recursive_directory_iterator it(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    struct stat found = {};
    if (::lstat(it->path().c_str(), &found) == 0) blocks += found.st_blocks;
  }
  return blocks / 2;
}

}  // namespace cairn::test
