#include "engine/format/sparse_names.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_format.h"

namespace cairn::format {

namespace {

constexpr std::string_view kEnd = ".tmp";
constexpr size_t kRandomDigits = 16;

}  // namespace

std::string_view TemporaryStemOf(std::string_view base) {
  constexpr size_t kMost = kMaxNameSize - 1 - kRandomDigits - kEnd.size();
  if (base.size() <= kMost) return base;
  // A character of UTF-8 is not cut, because some file systems refuse parts of one.
  size_t size = kMost;
  while (size > 0 && (static_cast<unsigned char>(base[size]) & 0xC0) == 0x80) --size;
  return base.substr(0, size);
}

bool IsTemporaryNameOf(std::string_view base, std::string_view name) {
  const std::string_view stem = TemporaryStemOf(base);
  if (!name.starts_with(stem) || !name.ends_with(kEnd)) return false;
  name.remove_prefix(stem.size());
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
