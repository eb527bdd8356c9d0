#include "engine/base/utf8.h"

#include <cstddef>

namespace cairn {

namespace {

bool IsContinuation(unsigned char c) { return (c & 0xC0) == 0x80; }

// Returns the bytes of the character of UTF-8 at the beginning of a text, or 0 if there is none.
size_t CharacterOf(std::string_view text) {
  const auto at = [text](size_t i) -> unsigned char {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4 || !IsContinuation(at(1))) return 0;
  if (lead < 0xE0) return 2;
  // Neither long forms nor surrogates, nor what is beyond the last character.
  if (lead == 0xE0 && at(1) < 0xA0) return 0;
  if (lead == 0xED && at(1) >= 0xA0) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;
  if (lead == 0xF4 && at(1) >= 0x90) return 0;
  if (!IsContinuation(at(2))) return 0;
  if (lead < 0xF0) return 3;
  return IsContinuation(at(3)) ? 4 : 0;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = CharacterOf(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

}  // namespace cairn
