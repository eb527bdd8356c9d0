#include "tools/cairn/records/row_splitter.h"

#include <algorithm>

namespace cairn::tool {

namespace {

std::string_view WithoutReturn(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

void RowSplitter::Add(std::string_view text) {
  text_.erase(0, at_);
  at_ = 0;
  text_ += text;
}

// Returns true if one of the whole lines after the first, up to `end`, is a row by itself.
bool RowSplitter::HasRow(std::string_view text, size_t end) {
  size_t at = looked_at_ > 0 ? looked_at_ : text.find('\n') + 1;
  for (size_t next = text.find('\n', at); next < end; next = text.find('\n', at)) {
    if (parser_->IsRow(WithoutReturn(text.substr(at, next - at)))) return true;
    at = next + 1;
  }
  looked_at_ = at;
  return false;
}

std::optional<size_t> RowSplitter::FindEnd(std::string_view text, bool at_end) {
  const size_t line = std::min(text.find('\n'), text.size());
  const bool quoted =
      parser_ != nullptr && text.substr(0, line).find('"') != std::string_view::npos;
  const size_t row = quoted ? parser_->FindEnd(text) : line;
  if (row > line && line < text.size() && HasRow(text, std::min(row, text.size()))) return line;
  if (row < text.size() || (at_end && row == text.size())) return row;
  if (!at_end && text.size() <= kMaxLine) return std::nullopt;
  return line;
}

void RowSplitter::Consume(size_t size) {
  const auto begin = text_.begin() + static_cast<ptrdiff_t>(at_);
  line_ += std::count(begin, begin + static_cast<ptrdiff_t>(size), '\n');
  at_ += size;
  looked_at_ = 0;
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
  row_at_ = at_;
  Row row = {.line = line_, .text = rest.substr(0, *end)};
  row.too_long = row.text.size() > kMaxLine;
  skips_ = *end == rest.size() && !at_end;
  Consume(std::min(*end + 1, rest.size()));
  row.text = WithoutReturn(row.text);
  return row;
}

void RowSplitter::KeepFirstLine() {
  const auto begin = text_.begin() + static_cast<ptrdiff_t>(row_at_);
  const auto end = text_.begin() + static_cast<ptrdiff_t>(at_);
  const auto next = std::find(begin, end, '\n');
  if (next == end) return;
  line_ -= std::count(next + 1, end, '\n');
  at_ = static_cast<size_t>(next + 1 - text_.begin());
  looked_at_ = 0;
  skips_ = false;
}

}  // namespace cairn::tool
