#include "tools/cairn/flags/box.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "absl/strings/str_format.h"

#include "tools/status.h"

namespace cairn::tool {

namespace {

// Parses a number, or returns `absent` if it is left out.
std::optional<int64_t> ParseNumber(std::string_view text, int64_t absent) {
  if (text.empty()) return absent;
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || parsed != end || number < 0) return std::nullopt;
  return number;
}

std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// Adds one dimension of `extent` items.
absl::Status AddRange(std::string_view text, int64_t extent, Box* box) {
  const size_t colon = text.find(':');
  const bool single = colon == std::string_view::npos;
  const std::optional<int64_t> begin = ParseNumber(text.substr(0, colon), 0);
  const std::optional<int64_t> end = single ? begin : ParseNumber(text.substr(colon + 1), extent);
  if (!begin || !end || text.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--box: \"%s\": expected a range such as 3:7, 3:, :7, : or 3", text));
  }
  if (*begin > *end || *end > extent || (single && *end == extent)) {
    return absl::OutOfRangeError(
        absl::StrFormat("--box: %s: dimension %d has %d items", text, box->shape.size(), extent));
  }
  box->start.push_back(*begin);
  box->shape.push_back(single ? 1 : *end - *begin);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Box> ParseBox(std::string_view text, const std::vector<int64_t>& shape) {
  Box box;
  if (shape.empty() && text.empty()) return box;
  const std::vector<std::string_view> ranges = SplitAtCommas(text);
  if (ranges.size() != shape.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("--box: %d dimensions, the array has %d", ranges.size(), shape.size()));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    RETURN_IF_ERROR(AddRange(ranges[d], shape[d], &box));
  }
  return box;
}

int64_t CountItems(const Box& box) {
  int64_t count = 1;
  for (const int64_t extent : box.shape) count *= extent;
  return count;
}

absl::Status ForEachPiece(const Box& box, int64_t most,
                          absl::FunctionRef<absl::Status(const Box&)> visit) {
  if (CountItems(box) <= most) return visit(box);
  // Finds the first dimension that can be cut. All before it have one item.
  const auto cut = std::ranges::find_if(box.shape, [](int64_t extent) { return extent > 1; });
  if (cut == box.shape.end()) return visit(box);
  const auto d = static_cast<size_t>(cut - box.shape.begin());
  const int64_t extent = box.shape[d];
  const int64_t step = std::max<int64_t>(1, most / (CountItems(box) / extent));
  for (int64_t done = 0; done < extent; done += step) {
    Box piece = box;
    piece.start[d] += done;
    piece.shape[d] = std::min(step, extent - done);
    RETURN_IF_ERROR(ForEachPiece(piece, most, visit));
  }
  return absl::OkStatus();
}

}  // namespace cairn::tool
