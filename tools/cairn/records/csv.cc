#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_format.h"

#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

// Returns true for a character that may stand around a cell.
bool IsBlank(char c, char delimiter) { return (c == ' ' || c == '\t') && c != delimiter; }

size_t SkipBlanks(std::string_view text, size_t at, char delimiter) {
  while (at < text.size() && IsBlank(text[at], delimiter)) ++at;
  return at;
}

// Takes a row apart, cell by cell.
class Cells {
 public:
  Cells(std::string_view row, char delimiter) : rest_(row), delimiter_(delimiter) {}

  bool done() const { return done_; }

  // Returns the next cell without the blanks around it. `storage` holds a cell that is not in the
  // row in this form.
  absl::StatusOr<std::string_view> Next(std::string& storage) {
    rest_.remove_prefix(SkipBlanks(rest_, 0, delimiter_));
    if (rest_.starts_with('"')) return NextQuoted(storage);
    const size_t end = rest_.find(delimiter_);
    std::string_view cell = rest_.substr(0, end);
    while (!cell.empty() && IsBlank(cell.back(), delimiter_)) cell.remove_suffix(1);
    Skip(end);
    return cell;
  }

 private:
  absl::StatusOr<std::string_view> NextQuoted(std::string& storage) {
    storage.clear();
    for (rest_.remove_prefix(1);; rest_.remove_prefix(1)) {
      const size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) {
        return absl::InvalidArgumentError("a quote without an end");
      }
      storage += rest_.substr(0, quote);
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) break;
      storage += '"';
    }
    rest_.remove_prefix(SkipBlanks(rest_, 0, delimiter_));
    if (!rest_.empty() && rest_.front() != delimiter_) {
      return absl::InvalidArgumentError("text after the end of a quote");
    }
    Skip(rest_.empty() ? std::string_view::npos : 0);
    return std::string_view(storage);
  }

  void Skip(size_t end) {
    done_ = end == std::string_view::npos;
    rest_.remove_prefix(done_ ? rest_.size() : end + 1);
  }

  std::string_view rest_;
  char delimiter_;
  bool done_ = false;
};

class CsvParser : public RecordParser {
 public:
  CsvParser(RecordBuilder& builder, CsvOptions options)
      : builder_(builder), options_(std::move(options)) {}

  size_t FindEnd(std::string_view text) const override {
    bool cell_begins = true;
    for (size_t i = 0; i < text.size(); ++i) {
      if (cell_begins) i = SkipBlanks(text, i, options_.delimiter);
      if (i == text.size() || text[i] == '\n') return i;
      if (cell_begins && text[i] == '"') {
        // Two quotes in a quoted cell are a quote of its text. To this loop they look like two
        // quoted parts.
        i = text.find('"', i + 1);
        if (i == std::string_view::npos) return i;
        cell_begins = i + 1 < text.size() && text[i + 1] == '"';
      } else {
        cell_begins = text[i] == options_.delimiter;
      }
    }
    return text.size();
  }

  // A line of text only could be part of a quoted text. The row with the names is always one line.
  bool IsRow(std::string_view line) override {
    if (first_) return true;
    const auto is_value = [this](const std::optional<size_t>& field) {
      return field && !IsText(builder_.schema().fields()[*field]);
    };
    if (columns_.size() < 2 || std::ranges::none_of(columns_, is_value)) return false;
    trial_.resize(static_cast<size_t>(builder_.schema().record_size()));
    return ParseRow(line, trial_).ok();
  }

  absl::StatusOr<bool> Parse(std::string_view row, MutableBytes record) override {
    if (std::exchange(first_, false)) {
      constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
      if (row.starts_with(kByteOrderMark)) row.remove_prefix(kByteOrderMark.size());
      std::vector<std::string> names = options_.columns;
      if (names.empty()) {
        absl::StatusOr<std::vector<std::string>> cells = ParseCsvRow(row, options_.delimiter);
        if (!cells.ok()) return absl::FailedPreconditionError(cells.status().message());
        names = *std::move(cells);
      }
      if (const absl::Status status = TakeColumns(names); !status.ok()) {
        return absl::FailedPreconditionError(status.message());
      }
      if (options_.columns.empty()) return false;
    }
    if (row.empty() && columns_.size() > 1) return false;
    RETURN_IF_ERROR(ParseRow(row, record));
    return true;
  }

 private:
  absl::Status TakeColumns(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      ASSIGN_OR_RETURN(const std::optional<size_t> column, builder_.Find(name));
      columns_.push_back(column);
    }
    return builder_.CheckGiven(columns_);
  }

  absl::Status ParseRow(std::string_view row, MutableBytes record) {
    builder_.Begin(record);
    Cells cells(row, options_.delimiter);
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (cells.done()) {
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s, expected %d", FormatCount(static_cast<int64_t>(i), "cell"), columns_.size()));
      }
      ASSIGN_OR_RETURN(const std::string_view cell, cells.Next(storage_));
      if (!columns_[i]) continue;
      RETURN_IF_ERROR(cell.empty() ? builder_.SetMissing(*columns_[i])
                                   : builder_.Set(*columns_[i], cell));
    }
    if (cells.done()) return builder_.End();
    return absl::InvalidArgumentError(absl::StrFormat(
        "more than %s", FormatCount(static_cast<int64_t>(columns_.size()), "cell")));
  }

  RecordBuilder& builder_;
  CsvOptions options_;
  std::vector<std::optional<size_t>> columns_;  // the field of each; none: left out
  bool first_ = true;
  std::string storage_;
  std::vector<std::byte> trial_;  // a record that is thrown away
};

}  // namespace

absl::StatusOr<std::vector<std::string>> ParseCsvRow(std::string_view row, char delimiter) {
  std::vector<std::string> all;
  std::string storage;
  for (Cells cells(row, delimiter); !cells.done();) {
    ASSIGN_OR_RETURN(const std::string_view cell, cells.Next(storage));
    all.emplace_back(cell);
  }
  return all;
}

std::unique_ptr<RecordParser> MakeCsvParser(RecordBuilder& builder, CsvOptions options) {
  return std::make_unique<CsvParser>(builder, std::move(options));
}

}  // namespace cairn::tool
