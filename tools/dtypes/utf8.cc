#include "tools/dtypes/utf8.h"

#include <algorithm>
#include <cstddef>

namespace cairn::dtypes {

namespace {

constexpr uint32_t kReplacement = 0xFFFD;

bool IsCharacter(uint32_t c) { return c < 0xD800 || (c > 0xDFFF && c < 0x110000); }

}  // namespace

uint32_t TakeUtf8(std::string_view& text) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  size_t size = 1;
  if (first >= 0xC0) size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  uint32_t character = size == 1 ? first : first & (0x7FU >> size);
  bool good = first < 0x80 || (first >= 0xC0 && first < 0xF8 && size <= text.size());
  for (size_t i = 1; good && i < size; ++i) {
    good = (byte(i) & 0xC0) == 0x80;
    character = character << 6 | (byte(i) & 0x3FU);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  good = good && character >= kLeast[size] && IsCharacter(character);
  text.remove_prefix(good ? size : 1);
  return good ? character : kReplacement;
}

bool IsPlainUtf8(std::string_view text) {
  const auto ascii = std::ranges::find_if(text, [](char c) { return c <= 0; });
  text.remove_prefix(static_cast<size_t>(ascii - text.begin()));
  while (!text.empty()) {
    const size_t before = text.size();
    const uint32_t character = TakeUtf8(text);
    if (character == 0 || (character == kReplacement && text.size() + 1 == before)) return false;
  }
  return true;
}

std::string ToUtf8(std::string_view text) {
  std::string good;
  while (!text.empty()) AppendUtf8(good, TakeUtf8(text));
  return good;
}

void AppendUtf8(std::string& text, uint32_t character) {
  if (!IsCharacter(character)) character = kReplacement;
  const auto add = [&text](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (character < 0x80) return add(character);
  if (character < 0x800) {
    add(0xC0 | character >> 6);
  } else if (character < 0x10000) {
    add(0xE0 | character >> 12);
    add(0x80 | (character >> 6 & 0x3F));
  } else {
    add(0xF0 | character >> 18);
    add(0x80 | (character >> 12 & 0x3F));
    add(0x80 | (character >> 6 & 0x3F));
  }
  add(0x80 | (character & 0x3F));
}

}  // namespace cairn::dtypes
