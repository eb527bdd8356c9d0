#include "engine/object/object_names.h"

#include <charconv>

#include "absl/strings/str_format.h"

namespace cairn::object {

namespace {

constexpr size_t kDigits = 16;

// Returns the number of 16 hexadecimal digits at the beginning of `text`.
std::optional<int64_t> ParseHex(std::string_view text) {
  if (text.size() < kDigits) return std::nullopt;
  int64_t number = 0;
  const char* const end = text.data() + kDigits;
  const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::string JournalObjectName(int64_t position) {
  return absl::StrFormat("%s%016x", kJournalPrefix, position);
}

std::optional<int64_t> ParseJournalObjectName(std::string_view name) {
  if (!name.starts_with(kJournalPrefix)) return std::nullopt;
  name.remove_prefix(kJournalPrefix.size());
  return name.size() == kDigits ? ParseHex(name) : std::nullopt;
}

std::string GarbageObjectName(int64_t seconds, uint64_t nonce) {
  return absl::StrFormat("%s%016x.%016x", kGarbagePrefix, seconds, nonce);
}

std::optional<int64_t> ParseGarbageObjectName(std::string_view name) {
  if (!name.starts_with(kGarbagePrefix)) return std::nullopt;
  name.remove_prefix(kGarbagePrefix.size());
  return ParseHex(name);
}

}  // namespace cairn::object
