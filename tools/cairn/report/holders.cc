#include "tools/cairn/report/holders.h"

#include <chrono>

#include "absl/strings/str_cat.h"

namespace cairn::tool {

namespace {

std::string FormatTime(std::chrono::seconds time) {
  const int64_t seconds = time.count();
  if (seconds < 120) return absl::StrCat(seconds, " s");
  constexpr int64_t kHour = 3600;
  if (seconds < 2 * kHour) return absl::StrCat(seconds / 60, " min");
  return seconds < 48 * kHour ? absl::StrCat(seconds / kHour, " h")
                              : absl::StrCat(seconds / (24 * kHour), " days");
}

}  // namespace

std::string DescribeHolder(const GenerationHolder& holder) {
  std::string text = absl::StrCat("generation ", holder.generation, ", by ");
  absl::StrAppend(
      &text, holder.pid == 0 ? "a process of another user" : absl::StrCat("process ", holder.pid));
  if (holder.running) absl::StrAppend(&text, ", which has run for ", FormatTime(*holder.running));
  return text;
}

Json JsonOfHolders(const std::vector<GenerationHolder>& holders) {
  Json array = Json::array();
  for (const GenerationHolder& holder : holders) {
    array.push_back({{"generation", holder.generation},
                     {"pid", holder.pid},
                     {"running_seconds", holder.running ? Json(holder.running->count()) : Json()}});
  }
  return array;
}

}  // namespace cairn::tool
