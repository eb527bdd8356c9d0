#include "tools/cairn/controls.h"

namespace cairn::tool {

size_t ControlSizeAt(std::string_view text, size_t position) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(position);
  if (first < 0x20 || first == 0x7f) return 1;
  if (first != 0xc2 || position + 1 == text.size()) return 0;
  const unsigned char second = byte(position + 1);
  return second >= 0x80 && second < 0xa0 ? 2 : 0;
}

std::string OneLine(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t control = ControlSizeAt(text, i);
    line += control > 0 ? ' ' : text[i];
    i += control > 0 ? control : 1;
  }
  return line;
}

}  // namespace cairn::tool
