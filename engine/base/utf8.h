// Texts from programs, which may be any bytes.
#ifndef CAIRN_ENGINE_BASE_UTF8_H_
#define CAIRN_ENGINE_BASE_UTF8_H_

#include <string_view>

namespace cairn {

// Returns true if the text is UTF-8, without surrogates and long forms.
bool IsUtf8(std::string_view text);

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_UTF8_H_
