#include "tools/cairn/records/record_builder.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "tools/cairn/records/values.h"
#include "tools/cairn/text/times.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

std::string_view WithoutBlanks(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Returns true for words that programs write if they have no value. A field of text takes them as
// texts.
bool SaysNoValue(std::string_view text) {
  constexpr std::array<std::string_view, 10> kWords = {"",     "na",   "n/a", "#n/a", "<na>",
                                                       "null", "none", "nan", "-nan", "nat"};
  if (text.size() > 4 || (!text.empty() && absl::ascii_isdigit(text.front()))) return false;
  return std::ranges::find(kWords, absl::AsciiStrToLower(std::string(text))) != kWords.end();
}

}  // namespace

RecordBuilder::RecordBuilder(const Schema& schema, const Field* time, const ParseOptions& options)
    : schema_(schema),
      time_(time),
      options_(options),
      empty_(static_cast<size_t>(schema.record_size())),
      given_(schema.fields().size()) {
  for (const Field& field : schema.fields()) {
    numbers_.try_emplace(NameOf(field), numbers_.size());
    const bool optional = StoreMissing(field, empty_.data() + field.offset);
    needed_.push_back(!optional || &field == time);
  }
}

absl::StatusOr<std::optional<size_t>> RecordBuilder::Find(std::string_view name) const {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return std::optional<size_t>(found->second);
  if (options_.ignore_extra) return std::optional<size_t>();
  if (const size_t at = name.find_first_of(";\t|"); at != std::string_view::npos) {
    return absl::InvalidArgumentError(
        absl::StrFormat("no field '%s'; --delimiter %s splits it", name,
                        name[at] == '\t' ? "tab" : absl::StrFormat("'%c'", name[at])));
  }
  std::vector<std::string> names;
  for (const Field& field : schema_.fields()) names.push_back(NameOf(field));
  return absl::InvalidArgumentError(
      absl::StrFormat("no field '%s'; there are %s; --ignore-extra leaves such values out", name,
                      absl::StrJoin(names, ", ")));
}

bool RecordBuilder::CanStamp(const Field& field) const {
  return &field == time_ && options_.stamp && field.type == FieldType::kTimestamp;
}

absl::Status RecordBuilder::Missing(const Field& field) const {
  const std::string_view more = &field != time_ ? ", which integers and booleans need"
                                : field.type == FieldType::kTimestamp
                                    ? "; --stamp gives records the time of their arrival"
                                    : "";
  return absl::InvalidArgumentError(absl::StrFormat("field '%s': no value%s", NameOf(field), more));
}

absl::Status RecordBuilder::CheckGiven(const std::vector<std::optional<size_t>>& fields) const {
  for (size_t i = 0; i < needed_.size(); ++i) {
    const Field& field = schema_.fields()[i];
    if (!needed_[i] || CanStamp(field)) continue;
    if (std::ranges::find(fields, std::optional(i)) == fields.end()) return Missing(field);
  }
  return absl::OkStatus();
}

void RecordBuilder::Begin(MutableBytes record) {
  record_ = record;
  std::ranges::copy(empty_, record_.begin());
  given_.assign(given_.size(), false);
}

absl::Status RecordBuilder::Take(size_t field) {
  if (given_[field]) {
    return absl::InvalidArgumentError(
        absl::StrFormat("field '%s': two values", NameOf(schema_.fields()[field])));
  }
  given_[field] = true;
  return absl::OkStatus();
}

absl::Status RecordBuilder::Set(size_t field, std::string_view text) {
  const Field& to = schema_.fields()[field];
  if (!IsText(to)) {
    text = WithoutBlanks(text);
    if (SaysNoValue(text)) return SetMissing(field);
  }
  RETURN_IF_ERROR(Take(field));
  absl::StatusOr<uint32_t> code;
  std::string digits;
  if (to.type == FieldType::kText && options_.code_of != nullptr) {
    code = options_.code_of(to.name, text);
    if (!code.ok()) return code.status();
    digits = absl::StrCat(*code);
    text = digits;
  }
  const absl::Status status =
      ParseValue(to, text, options_.number_times, record_.data() + to.offset);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrFormat("field '%s': %s", NameOf(to), status.message()));
}

absl::Status RecordBuilder::SetMissing(size_t field) {
  const Field& to = schema_.fields()[field];
  const bool has_default = &to != time_ && options_.added_fields.contains(field);
  if (needed_[field] && !has_default && !CanStamp(to)) return Missing(to);
  RETURN_IF_ERROR(Take(field));
  given_[field] = !needed_[field] || has_default;
  return absl::OkStatus();
}

absl::Status RecordBuilder::End() {
  for (size_t i = 0; i < needed_.size(); ++i) {
    if (!needed_[i] || given_[i]) continue;
    const Field& field = schema_.fields()[i];
    if (!CanStamp(field)) return Missing(field);
    StoreInt64(Now(field.unit), record_.data() + field.offset);
  }
  if (time_ == nullptr || time_->type != FieldType::kTimestamp) return absl::OkStatus();
  return LoadInt64(record_.data() + time_->offset) == kNoTime ? Missing(*time_) : absl::OkStatus();
}

}  // namespace cairn::tool
