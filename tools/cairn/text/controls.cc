#include "tools/cairn/text/controls.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/strings/escaping.h"

namespace cairn::tool {

namespace {

uint8_t ByteAt(std::string_view text, size_t position) {
  return static_cast<uint8_t>(text[position]);
}

}  // namespace

size_t Utf8SizeAt(std::string_view text, size_t position) {
  const uint8_t first = ByteAt(text, position);
  if (first < 0x80) return 1;
  const auto size = static_cast<size_t>(std::countl_one(first));
  if (size < 2 || size > 4 || size > text.size() - position) return 0;
  uint32_t character = first & (0x7fU >> size);
  for (size_t i = 1; i < size; ++i) {
    const uint8_t next = ByteAt(text, position + i);
    if (next >> 6 != 0b10) return 0;
    character = character << 6 | (next & 0x3fU);
  }
  // the least character that needs this many bytes
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = character >= 0xd800 && character < 0xe000;
  return character < kLeast[size] || character > 0x10ffff || surrogate ? 0 : size;
}

size_t ControlSizeAt(std::string_view text, size_t position) {
  const uint8_t first = ByteAt(text, position);
  if (first < 0x20 || first == 0x7f) return 1;
  if (first != 0xc2 || position + 1 == text.size()) return 0;
  const uint8_t second = ByteAt(text, position + 1);
  return second >= 0x80 && second < 0xa0 ? 2 : 0;
}

std::string HideQueries(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \t\n'\""), text.size());
    const std::string_view word = text.substr(0, end);
    const bool is_url = word.find("https://") != word.npos || word.find("http://") != word.npos;
    const size_t query = is_url ? word.find('?') : word.npos;
    shown += word.substr(0, query);
    if (query != word.npos && word.ends_with(':')) shown += ':';
    shown += text.substr(end, 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return shown;
}

std::string OneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t size = Utf8SizeAt(text, i);
    const bool shown = size > 0 && ControlSizeAt(text, i) == 0;
    const std::string character(text.substr(i, std::max<size_t>(size, 1)));
    line += shown ? character : absl::CEscape(character);
    i += character.size();
  }
  return line;
}

}  // namespace cairn::tool
