#include "tools/cairn/records/row_splitter.h"

#include <algorithm>

namespace cairn::tool {

namespace {

// Where the first row ends: with its line, or with the text; npos in the middle of a quote.
size_t EndOfQuotedRow(std::string_view text, char delimiter) {
  bool cell_begins = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') return i;
    if (cell_begins && text[i] == '"') {
      // Two quotes in a quoted cell are one of its text, and two parts of it to this loop.
      i = text.find('"', i + 1);
      if (i == std::string_view::npos) return i;
      cell_begins = i + 1 < text.size() && text[i + 1] == '"';
    } else {
      cell_begins = text[i] == delimiter;
    }
  }
  return text.size();
}

}  // namespace

void RowSplitter::Add(std::string_view text) {
  text_.erase(0, at_);
  at_ = 0;
  text_ += text;
}

std::optional<size_t> RowSplitter::FindEnd(std::string_view text, bool at_end) const {
  const size_t line = text.find('\n');
  const bool quoted = delimiter_ != 0 && text.substr(0, line).find('"') != std::string_view::npos;
  const size_t row = quoted ? EndOfQuotedRow(text, delimiter_) : std::min(line, text.size());
  if (row < text.size() || (at_end && row == text.size())) return row;
  if (!at_end && text.size() <= kMaxLine) return std::nullopt;
  // A quote that never ends shall not take all that follows.
  return std::min(line, text.size());
}

void RowSplitter::Consume(size_t size) {
  const auto begin = text_.begin() + static_cast<ptrdiff_t>(at_);
  line_ += std::count(begin, begin + static_cast<ptrdiff_t>(size), '\n');
  at_ += size;
}

std::optional<Row> RowSplitter::Next(bool at_end) {
  if (skips_) {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const bool found = end < text_.size();
    Consume(end - at_ + (found ? 1 : 0));
    skips_ = !found;
  }
  const std::string_view rest = std::string_view(text_).substr(at_);
  if (rest.empty()) return std::nullopt;
  const std::optional<size_t> end = FindEnd(rest, at_end);
  if (!end) return std::nullopt;
  Row row = {.line = line_, .text = rest.substr(0, *end)};
  row.too_long = row.text.size() > kMaxLine;
  skips_ = *end == rest.size() && !at_end;
  Consume(std::min(*end + 1, rest.size()));
  if (row.text.ends_with('\r')) row.text.remove_suffix(1);
  return row;
}

}  // namespace cairn::tool
