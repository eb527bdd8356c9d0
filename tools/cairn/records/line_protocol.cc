#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_format.h"

#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/values.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

// Returns true if the character at `i` is a backslash before one of `escaped`.
bool IsEscape(std::string_view text, size_t i, std::string_view escaped) {
  return text[i] == '\\' && i + 1 < text.size() &&
         escaped.find(text[i + 1]) != std::string_view::npos;
}

// Takes a word up to one of the characters `ends`. A backslash before one of `escaped` is left out
// and makes it a part of the word. Any other backslash is a character.
std::string TakeWord(std::string_view& rest, std::string_view ends, std::string_view escaped) {
  std::string word;
  size_t i = 0;
  for (; i < rest.size() && ends.find(rest[i]) == std::string_view::npos; ++i) {
    word += rest[IsEscape(rest, i, escaped) ? ++i : i];
  }
  rest.remove_prefix(i);
  return word;
}

constexpr std::string_view kEscapedInName = ", ";  // of measurements
constexpr std::string_view kEscapedInKey = ",= ";  // of tags and fields
constexpr std::string_view kEscapedInQuotes = "\"\\";

bool Accept(std::string_view& rest, char c) {
  if (!rest.starts_with(c)) return false;
  rest.remove_prefix(1);
  return true;
}

// Takes a text in quotes, in which a backslash stands before a quote or a backslash.
absl::StatusOr<std::string> TakeQuoted(std::string_view& rest) {
  std::string text;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return text;
    }
    text += rest[IsEscape(rest, i, kEscapedInQuotes) ? ++i : i];
  }
  return absl::InvalidArgumentError("a quote without an end");
}

class LineProtocolParser : public RecordParser {
 public:
  LineProtocolParser(RecordBuilder& builder, const Field* time,
                     std::optional<std::string> measurement)
      : builder_(builder), measurement_(std::move(measurement)) {
    for (size_t i = 0; i < builder_.schema().fields().size(); ++i) {
      if (&builder_.schema().fields()[i] == time) time_ = i;
    }
  }

  // A text in quotes may have line breaks. It begins after the '=' of a field, which no backslash
  // makes a part of the field's name.
  size_t FindEnd(std::string_view text) const override {
    const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    const bool comment = text.substr(begin).starts_with('#');
    bool fields = false;  // after the first blank
    bool value = false;   // at the first character of a field's value
    for (size_t i = begin; i < text.size(); ++i) {
      if (text[i] == '\n') return i;
      if (comment) continue;
      const bool at_value = std::exchange(value, false);
      if (IsEscape(text, i, kEscapedInKey)) {
        ++i;
      } else if (text[i] == ' ') {
        fields = true;
      } else if (text[i] == '=') {
        value = fields;
      } else if (at_value && text[i] == '"') {
        for (++i; i < text.size() && text[i] != '"'; ++i) {
          if (IsEscape(text, i, kEscapedInQuotes)) ++i;
        }
        if (i >= text.size()) return std::string_view::npos;
      }
    }
    return text.size();
  }

  bool IsRow(std::string_view line) override {
    trial_.resize(static_cast<size_t>(builder_.schema().record_size()));
    const absl::StatusOr<bool> parsed = Parse(line, trial_);
    return parsed.ok() && *parsed;
  }

  absl::StatusOr<bool> Parse(std::string_view row, MutableBytes record) override {
    const size_t begin = row.find_first_not_of(" \t");
    if (begin == std::string_view::npos || row[begin] == '#') return false;
    std::string_view rest = row.substr(begin);
    const std::string measurement = TakeWord(rest, ", ", kEscapedInName);
    if (measurement_ && measurement != *measurement_) return false;
    builder_.Begin(record);
    while (Accept(rest, ',')) RETURN_IF_ERROR(TakeTag(rest));
    if (!Accept(rest, ' ')) return absl::InvalidArgumentError("no fields");
    SkipBlanks(rest);
    do {
      RETURN_IF_ERROR(TakeField(rest));
    } while (Accept(rest, ','));
    RETURN_IF_ERROR(TakeTime(rest));
    RETURN_IF_ERROR(builder_.End());
    return true;
  }

 private:
  static void SkipBlanks(std::string_view& rest) {
    while (Accept(rest, ' ')) {
    }
  }

  absl::StatusOr<std::optional<size_t>> TakeName(std::string_view& rest) const {
    const std::string name = TakeWord(rest, ",= ", kEscapedInKey);
    if (!Accept(rest, '=')) {
      return absl::InvalidArgumentError(absl::StrFormat("no '=' after '%s'", name));
    }
    return builder_.Find(name);
  }

  absl::Status TakeTag(std::string_view& rest) {
    ASSIGN_OR_RETURN(const std::optional<size_t> field, TakeName(rest));
    const std::string value = TakeWord(rest, ",= ", kEscapedInKey);
    if (rest.starts_with('=')) {
      return absl::InvalidArgumentError(
          absl::StrFormat("'=' in the tag after '%s' without a backslash", value));
    }
    return field ? builder_.Set(*field, value) : absl::OkStatus();
  }

  absl::Status TakeField(std::string_view& rest) {
    ASSIGN_OR_RETURN(const std::optional<size_t> field, TakeName(rest));
    std::string value;
    if (rest.starts_with('"')) {
      ASSIGN_OR_RETURN(value, TakeQuoted(rest));
    } else {
      value = TakeWord(rest, ", ", kEscapedInKey);
      const bool number = value.size() > 1 && IsNumber(value.substr(0, value.size() - 1));
      const bool is_unsigned = value.ends_with('u') && !value.starts_with('-');
      if (number && (value.ends_with('i') || is_unsigned)) value.pop_back();
    }
    return field ? builder_.Set(*field, value) : absl::OkStatus();
  }

  static bool IsNumber(std::string_view text) {
    return text.find_first_not_of("+-0123456789") == std::string_view::npos;
  }

  absl::Status TakeTime(std::string_view& rest) {
    SkipBlanks(rest);
    if (rest.empty()) return absl::OkStatus();
    const std::string time = TakeWord(rest, " ", "");
    SkipBlanks(rest);
    if (!rest.empty()) {
      return absl::InvalidArgumentError(absl::StrFormat("'%s' after the time", rest));
    }
    return time_ ? builder_.Set(*time_, time) : absl::OkStatus();
  }

  RecordBuilder& builder_;
  std::optional<size_t> time_;
  std::optional<std::string> measurement_;
  std::vector<std::byte> trial_;  // a record that is thrown away
};

}  // namespace

std::unique_ptr<RecordParser> MakeLineProtocolParser(RecordBuilder& builder, const Field* time,
                                                     std::optional<std::string> measurement) {
  return std::make_unique<LineProtocolParser>(builder, time, std::move(measurement));
}

}  // namespace cairn::tool
