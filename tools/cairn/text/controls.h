// Makes text from a frame safe to show. Names and texts of a stranger's frame may hold control
// characters, which would steer the terminal.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_CONTROLS_H_
#define CAIRN_TOOLS_CAIRN_TEXT_CONTROLS_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace cairn::tool {

// Returns how many bytes the UTF-8 character takes that begins at `position`, or 0 if none begins
// there.
size_t Utf8SizeAt(std::string_view text, size_t position);

// Returns how many bytes the control character takes that begins at `position`: one for ASCII's,
// two for those from U+0080 on, or 0 if none begins there.
size_t ControlSizeAt(std::string_view text, size_t position);

// Returns the text without the queries of its URLs, which may be secrets.
std::string HideQueries(std::string_view text);

// Returns one line of UTF-8. Control characters and bytes that are not UTF-8 become escapes of C.
std::string OneLine(std::string_view text);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_CONTROLS_H_
