#include "engine/format/sparse_names.h"

#include "absl/strings/str_format.h"

namespace cairn::format {

namespace {

constexpr std::string_view kSuffix = ".chunk";
constexpr size_t kDigits = 8;

}  // namespace

std::string ChunkFileName(int64_t number) { return absl::StrFormat("%08X.chunk", number); }

std::optional<int64_t> ParseChunkFileName(std::string_view name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  int64_t number = 0;
  for (const char c : name.substr(0, kDigits)) {
    if (c >= '0' && c <= '9') {
      number = number * 16 + (c - '0');
    } else if (c >= 'A' && c <= 'F') {
      number = number * 16 + (c - 'A' + 10);
    } else {
      return std::nullopt;
    }
  }
  return number;
}

}  // namespace cairn::format
