#include "tools/cairn/io/progress.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/units.h"

namespace cairn::tool {

namespace {

// Returns "1:05" for 65 seconds, "2:00:05" for hours.
std::string FormatClock(int64_t seconds) {
  const int64_t minutes = seconds / 60;
  if (minutes < 60) return absl::StrFormat("%d:%02d", minutes, seconds % 60);
  return absl::StrFormat("%d:%02d:%02d", minutes / 60, minutes % 60, seconds % 60);
}

}  // namespace

Progress::Progress(const std::string& label, std::optional<int64_t> total, std::string unit)
    : label_(OneLine(label)),
      total_(total),
      unit_(std::move(unit)),
      visible_(!label_.empty() && isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      next_(begin_ + std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::Show(int64_t done) {
  if (!visible_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::milliseconds(100);
  drawn_ = true;
  Draw(done);
}

void Progress::Draw(int64_t done) const {
  constexpr int kWidth = 30;
  const auto amount = [this](int64_t n) {
    return unit_.empty() ? FormatByteSize(n) : FormatCount(n, unit_);
  };
  std::string line = absl::StrCat("\r", label_, " ");
  if (total_ && *total_ > 0) {
    const double part =
        std::clamp(static_cast<double>(done) / static_cast<double>(*total_), 0.0, 1.0);
    const int full = static_cast<int>(part * kWidth);
    absl::StrAppendFormat(&line, "[%s%s] %3.0f%% ", std::string(full, '#'),
                          std::string(kWidth - full, '.'), part * 100);
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double rate = static_cast<double>(done) / seconds;
  absl::StrAppend(&line, amount(done), ", ", amount(static_cast<int64_t>(rate)), "/s");
  if (total_ && rate > 0 && done < *total_) {
    const auto left = static_cast<int64_t>(static_cast<double>(*total_ - done) / rate);
    absl::StrAppend(&line, ", ", FormatClock(left), " left");
  }
  absl::StrAppend(&line, "\x1b[K");
  std::fputs(line.c_str(), stderr);
}

}  // namespace cairn::tool
