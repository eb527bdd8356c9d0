// UTF-8, as SQLite's texts are.
#ifndef CAIRN_TOOLS_DTYPES_UTF8_H_
#define CAIRN_TOOLS_DTYPES_UTF8_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::dtypes {

// Whether bytes are UTF-8 without a zero, which ends a text for many programs.
bool IsPlainUtf8(std::string_view text);
// The same text, with U+FFFD for each byte that is part of no character.
std::string ToUtf8(std::string_view text);
// U+FFFD for what is no character.
void AppendUtf8(std::string& text, uint32_t character);
// The first character, which `text` loses; U+FFFD, and one byte, for what is none.
uint32_t TakeUtf8(std::string_view& text);

}  // namespace cairn::dtypes

#endif  // CAIRN_TOOLS_DTYPES_UTF8_H_
