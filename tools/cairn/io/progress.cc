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

Progress::Progress(const std::string& label, std::optional<int64_t> total, std::string unit)
    : label_(OneLine(label)),
      total_(total),
      unit_(std::move(unit)),
      visible_(!label_.empty() && isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + std::chrono::seconds(1)) {}

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
  absl::StrAppend(&line, amount(done), "\x1b[K");
  std::fputs(line.c_str(), stderr);
}

}  // namespace cairn::tool
