#include "tools/cairn/text/help.h"

#include <algorithm>
#include <cstddef>

namespace cairn::tool {

namespace {

// Breaks lines at blanks where they would pass `width`.
std::string Wrap(const std::string& text, size_t width) {
  std::string out;
  size_t column = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const size_t length = end - begin;
    if (column > 0) {
      const bool fits = column + 1 + length <= width;
      out += fits ? ' ' : '\n';
      column = fits ? column + 1 : 0;
    }
    out.append(text, begin, length);
    column += length;
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_positional() || option->get_type_size() == 0) return "";
  // The library appends its checks after a colon. The descriptions explain them better.
  const std::string name = option->get_type_name();
  return " " + name.substr(0, name.find(':'));
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  constexpr size_t kWidth = 92;
  std::string text = option->get_description();
  if (!option->get_default_str().empty()) text += " [" + option->get_default_str() + "]";
  return Wrap(text, kWidth - get_column_width());
}

}  // namespace cairn::tool
