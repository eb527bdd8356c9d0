#include "engine/format/sparse_names.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace cairn::format {

namespace {

constexpr std::string_view kSuffix = ".chunk";
constexpr size_t kDigits = 8;

bool IsLowerHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

bool IsTemporaryNameOf(std::string_view base, std::string_view name) {
  constexpr std::string_view kEnd = ".tmp";
  constexpr size_t kRandomDigits = 16;
  if (!name.starts_with(base) || !name.ends_with(kEnd)) return false;
  name.remove_prefix(base.size());
  if (name.size() != 1 + kRandomDigits + kEnd.size() || name.front() != '.') return false;
  return std::ranges::all_of(name.substr(1, kRandomDigits), IsLowerHexDigit);
}

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
