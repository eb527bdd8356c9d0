// UTF-8 in the form of SQLite's texts.
#ifndef CAIRN_TOOLS_DTYPES_UTF8_H_
#define CAIRN_TOOLS_DTYPES_UTF8_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::dtypes {

// Returns true if bytes are UTF-8 without a zero, which ends a text for many programs.
bool IsPlainUtf8(std::string_view text);
// Returns the text with U+FFFD for each byte that is not part of a character.
std::string ToUtf8(std::string_view text);
// Appends a character, or U+FFFD for a number that is not a character.
void AppendUtf8(std::string& text, uint32_t character);
// Returns the first character and removes it from `text`. For a byte that is not part of one,
// returns U+FFFD and removes the byte.
uint32_t TakeUtf8(std::string_view& text);

}  // namespace cairn::dtypes

#endif  // CAIRN_TOOLS_DTYPES_UTF8_H_
