#include "tools/cairn/flags/filters.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

// Returns true for the two filters that mean nothing without a number of bits.
bool NeedsMeta(Filter filter) {
  return filter == Filter::kTruncPrec || filter == Filter::kIntTrunc;
}

std::optional<int> ParseNumber(std::string_view text, int min, int max) {
  const char* const end = text.data() + text.size();
  int number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < min || number > max) return std::nullopt;
  return number;
}

std::optional<Filter> ParseFilter(std::string_view name) {
  if (const auto filter = FindWord(kFilterWords, name)) return filter;
  const std::optional<int> id = ParseNumber(name, 0, 255);
  if (!id) return std::nullopt;
  return static_cast<Filter>(*id);
}

absl::StatusOr<FilterStage> ParseStage(std::string_view text, int32_t typesize) {
  const size_t colon = text.find(':');
  const auto filter = ParseFilter(text.substr(0, colon));
  if (!filter || *filter == Filter::kNone) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--filters: unknown filter '%s': expected names or ids joined by commas, "
                        "such as delta,shuffle",
                        text));
  }
  FilterStage stage = {.filter = *filter};
  if (colon != std::string_view::npos) {
    const std::optional<int> meta = ParseNumber(text.substr(colon + 1), -128, 255);
    if (!meta) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "--filters: '%s' has no valid number after the colon: expected -128..255", text));
    }
    stage.meta = static_cast<uint8_t>(*meta);
  } else if (NeedsMeta(*filter)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--filters: %s needs a number of bits, such as %s:8", text, text));
  } else if (*filter == Filter::kByteDelta) {
    stage.meta = static_cast<uint8_t>(std::min(typesize, 255));
  }
  return stage;
}

std::string FormatStage(const FilterStage& stage) {
  const std::string name = NameOf(kFilterWords, stage.filter);
  if (NeedsMeta(stage.filter)) return absl::StrCat(name, ":", static_cast<int8_t>(stage.meta));
  return stage.meta == 0 ? name : absl::StrCat(name, ":", stage.meta);
}

}  // namespace

absl::StatusOr<std::vector<FilterStage>> ParseFilters(std::string_view text, int32_t typesize) {
  std::vector<FilterStage> filters;
  if (text == "none") return filters;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    ASSIGN_OR_RETURN(const auto stage, ParseStage(text.substr(begin, end - begin), typesize));
    filters.push_back(stage);
    begin = end + 1;
  }
  if (filters.size() > kMaxFilters) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "--filters: %d filters, but a pipeline takes at most %d", filters.size(), kMaxFilters));
  }
  return filters;
}

std::string FormatFilters(const std::vector<FilterStage>& filters) {
  if (filters.empty()) return "none";
  return absl::StrJoin(filters, ",", [](std::string* out, const FilterStage& stage) {
    absl::StrAppend(out, FormatStage(stage));
  });
}

}  // namespace cairn::tool
