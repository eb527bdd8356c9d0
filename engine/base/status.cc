#include "engine/base/status.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "cairn/error.h"
#include "engine/base/shown_path.h"

namespace cairn {

namespace {

// Names the payload of a status, which is "5,-1 chunk" for the numbers 5 and -1 and the section
// "chunk".
constexpr char kDetails[] = "cairn";

absl::Status WithDetails(absl::StatusCode code, std::string_view message,
                         const ErrorDetails& details) {
  absl::Status status(code, absl::string_view(message.data(), message.size()));
  if (!details.section.empty() || !details.numbers.empty()) {
    status.SetPayload(kDetails,
                      absl::Cord(absl::StrJoin(details.numbers, ",") + " " + details.section));
  }
  return status;
}

bool IsNumber(std::string_view word) {
  if (word.starts_with('-')) word.remove_prefix(1);
  return !word.empty() && std::ranges::all_of(word, absl::ascii_isdigit);
}

bool IsName(std::string_view word) {
  return std::ranges::all_of(
      word, [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-'; });
}

// Returns the words before the first colon, as in "frame header: ...", without the number of "chunk
// 5: ...". If a number comes after the first word, returns that word, as in "chunk 5 of 7".
std::string_view SectionOf(std::string_view message) {
  size_t section = 0;  // its end
  for (size_t begin = 0; begin < message.size();) {
    const size_t end = std::min(message.find_first_of(" :", begin), message.size());
    const std::string_view word = message.substr(begin, end - begin);
    const bool is_last = message.substr(end, 1) == ":";
    if (IsNumber(word) && begin > 0) {
      const bool is_first = message.substr(0, section).find(' ') == std::string_view::npos;
      return is_last || is_first ? message.substr(0, section) : std::string_view();
    }
    if (!IsName(word)) return {};
    section = end;
    if (is_last) return message.substr(0, section);
    begin = end + 1;
  }
  return {};
}

}  // namespace

ErrorDetails DetailsOf(const absl::Status& status) {
  ErrorDetails details;
  const auto payload = status.GetPayload(kDetails);
  if (!payload.has_value()) return details;
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(std::string(*payload), absl::MaxSplits(' ', 1));
  for (const absl::string_view number : absl::StrSplit(parts.first, ',', absl::SkipEmpty())) {
    int64_t value = 0;
    if (absl::SimpleAtoi(number, &value)) details.numbers.push_back(value);
  }
  details.section = parts.second;
  return details;
}

namespace internal {

absl::Status MakeError(absl::StatusCode code, std::string_view message,
                       std::span<const int64_t> numbers) {
  return WithDetails(code, message,
                     {std::string(SectionOf(message)), {numbers.begin(), numbers.end()}});
}

absl::Status Annotate(const absl::Status& status, std::string_view where,
                      std::span<const int64_t> numbers) {
  const std::string message = absl::StrFormat("%s: %s", where, status.message());
  ErrorDetails details = DetailsOf(status);
  details.numbers.insert(details.numbers.begin(), numbers.begin(), numbers.end());
  if (const std::string_view section = SectionOf(message); !section.empty()) {
    details.section = section;
  }
  return WithDetails(status.code(), message, details);
}

}  // namespace internal

absl::Status AtPath(std::string_view path, const absl::Status& status) {
  if (status.ok()) return status;
  return WithDetails(status.code(), absl::StrFormat("%s: %s", ShownPath(path), status.message()),
                     DetailsOf(status));
}

absl::Status WithCode(absl::StatusCode code, const absl::Status& status) {
  return WithDetails(code, std::string(status.message()), DetailsOf(status));
}

}  // namespace cairn
