// Says where damage is once.
#ifndef CAIRN_TOOLS_CAIRN_TEXT_PLACE_H_
#define CAIRN_TOOLS_CAIRN_TEXT_PLACE_H_

#include <string>
#include <string_view>

#include "absl/strings/str_format.h"

namespace cairn::tool {

// Returns what is wrong with a section without its name, and the byte where it is, if these come
// first: "chunk 3 at byte 93: fingerprint: ..." of the section "chunk 3".
inline std::string_view WithoutPlace(std::string_view section, std::string_view reason) {
  constexpr std::string_view kByte = " at byte ";
  std::string_view rest = reason;
  if (!rest.starts_with(section)) return reason;
  rest.remove_prefix(section.size());
  if (!rest.starts_with(": ") && !rest.starts_with(kByte)) return reason;
  const size_t colon = rest.find(": ");
  return colon == std::string_view::npos ? reason : rest.substr(colon + 2);
}

// Returns "chunk 3: fingerprint: ..." for "chunk 3: chunk 3 at byte 93: fingerprint: ...".
inline std::string PlaceOnce(std::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return std::string(text);
  const std::string_view section = text.substr(0, colon);
  return absl::StrFormat("%s: %s", section, WithoutPlace(section, text.substr(colon + 2)));
}

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_TEXT_PLACE_H_
