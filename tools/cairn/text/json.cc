#include "tools/cairn/text/json.h"

#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/text/controls.h"

namespace cairn::tool {

std::string Dump(const Json& json, int indent) {
  const std::string text = json.dump(indent, ' ', false, Json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    // Control characters below the blank are already escaped. The ones that are left end lines.
    const size_t control = text[i] == '\n' ? 0 : ControlSizeAt(text, i);
    if (control > 0) {
      i += control;
      // Their last byte is their number.
      absl::StrAppendFormat(&escaped, "\\u%04x", static_cast<unsigned char>(text[i - 1]));
    } else {
      escaped += text[i++];
    }
  }
  return escaped;
}

std::string JsonName(const std::string& name) {
  const bool plain = IsUtf8(name) && name.find('\\') == std::string::npos;
  return plain ? name : absl::CEscape(name);
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t size = Utf8SizeAt(text, i);
    if (size == 0) return false;
    i += size;
  }
  return true;
}

}  // namespace cairn::tool
