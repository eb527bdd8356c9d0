// Text from a frame as it may be shown: names and texts of a stranger's frame may hold control
// characters, which would steer the terminal.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_CONTROLS_H_
#define CAIRN_TOOLS_CAIRN_TEXT_CONTROLS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::tool {

// How many bytes the UTF-8 character takes that begins at `position`; 0 when none begins there.
size_t Utf8SizeAt(std::string_view text, size_t position);

// How many bytes the control character takes that begins at `position`: ASCII's take one, those
// from U+0080 on two; 0 when none begins there.
size_t ControlSizeAt(std::string_view text, size_t position);

// One line of UTF-8: control characters and bytes that are no UTF-8 become escapes of C.
std::string OneLine(std::string_view text);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_CONTROLS_H_
