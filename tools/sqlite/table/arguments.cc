#include "tools/sqlite/table/arguments.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"

#include "tools/status.h"

namespace cairn::sqlite {

namespace {

constexpr std::string_view kSpaces = " \t\r\n";
constexpr std::string_view kQuotes = "'\"`[";

std::string_view WithoutSpaces(std::string_view text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kSpaces)));
  return text;
}

// Takes a word, or a text in quotes in which a doubled quote stands for one. `text` loses it and
// the spaces.
std::string TakeWord(std::string_view& text) {
  text = WithoutSpaces(text);
  std::string word;
  if (!text.empty() && kQuotes.find(text[0]) != std::string_view::npos) {
    const char quote = text[0] == '[' ? ']' : text[0];
    text.remove_prefix(1);
    while (!text.empty()) {
      const char c = text[0];
      text.remove_prefix(1);
      if (c == quote && !text.starts_with(quote)) break;
      if (c == quote) text.remove_prefix(1);
      word.push_back(c);
    }
  } else {
    const size_t end = std::min(text.size(), text.find_first_of(" \t\r\n="));
    word = text.substr(0, end);
    text.remove_prefix(end);
  }
  text = WithoutSpaces(text);
  return word;
}

absl::Status SetOption(TableArguments& all, const std::string& name, const std::string& value) {
  int64_t number = 0;
  if (name == "time") {
    all.time_field = value;
  } else if (name == "writable" && (value == "0" || value == "1")) {
    all.writable = value == "1";
  } else if (name == "wait" && absl::SimpleAtoi(value, &number) && number >= 0) {
    all.wait = std::chrono::milliseconds(std::min<int64_t>(number, 1'000'000'000));
  } else {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s=%s: the options are writable=1, wait=MILLISECONDS and time=FIELD", name, value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TableArguments> ParseArguments(std::span<const char* const> arguments) {
  TableArguments all;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view rest = arguments[i];
    const std::string word = TakeWord(rest);
    if (i == 0) {
      if (!rest.empty()) return absl::InvalidArgumentError("the first argument is the file");
      all.path = word;
    } else if (rest.starts_with('=')) {
      rest.remove_prefix(1);
      RETURN_IF_ERROR(SetOption(all, word, TakeWord(rest)));
    } else {
      const std::string type = TakeWord(rest);
      if (word.empty() || type.empty() || !rest.empty()) {
        return absl::InvalidArgumentError(
            absl::StrFormat("%s: expected NAME TYPE, such as: temp f4", arguments[i]));
      }
      all.columns.push_back({.name = word, .type = type});
    }
  }
  if (all.path.empty()) return absl::InvalidArgumentError("expected a file: cairn('FILE')");
  return all;
}

}  // namespace cairn::sqlite
