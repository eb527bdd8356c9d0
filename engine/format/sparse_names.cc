#include "engine/format/sparse_names.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_format.h"

namespace cairn::format {

bool IsTemporaryNameOf(std::string_view base, std::string_view name) {
  constexpr std::string_view kEnd = ".tmp";
  constexpr size_t kRandomDigits = 16;
  if (!name.starts_with(base) || !name.ends_with(kEnd)) return false;
  name.remove_prefix(base.size());
  return name.size() == 1 + kRandomDigits + kEnd.size() && name.front() == '.' &&
         name.find_first_not_of("0123456789abcdef", 1) == 1 + kRandomDigits;
}

std::string ChunkFileName(int64_t number) { return absl::StrFormat("%08X.chunk", number); }

std::optional<int64_t> ParseChunkFileName(std::string_view name) {
  int64_t number = -1;
  std::from_chars(name.data(), name.data() + std::min<size_t>(name.size(), 8), number, 16);
  return number >= 0 && name == ChunkFileName(number) ? std::optional(number) : std::nullopt;
}

}  // namespace cairn::format
