#include "tools/cairn/records/condition.h"

#include <array>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

#include "tools/cairn/records/values.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct Sign {
  std::string_view text;
  Comparison comparison;
};
// Each before those that it begins with.
constexpr std::array<Sign, 7> kSigns = {{{"==", Comparison::kEqual},
                                         {"!=", Comparison::kNotEqual},
                                         {"<=", Comparison::kLessOrEqual},
                                         {">=", Comparison::kGreaterOrEqual},
                                         {"=", Comparison::kEqual},
                                         {"<", Comparison::kLess},
                                         {">", Comparison::kGreater}}};

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::string_view Unquote(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// Where the name ends: a quoted one at its quote.
size_t EndOfName(std::string_view text) {
  if (text.starts_with('"') || text.starts_with('\'')) {
    const size_t quote = text.find(text.front(), 1);
    if (quote != std::string_view::npos) return quote + 1;
  }
  return text.find_first_of("=!<>");
}

// Integers are compared with decimal numbers, too.
absl::StatusOr<FieldValue> ParseFieldValue(const Field& field, std::string_view text) {
  if (field.type == FieldType::kBytes) return FieldValue(std::string(Unquote(text)));
  const auto parse = [&](const Field& as) -> absl::StatusOr<FieldValue> {
    std::array<std::byte, 8> bytes;
    RETURN_IF_ERROR(ParseValue(as, text, std::nullopt, bytes.data()));
    const Number number = LoadNumber(as, bytes.data());
    if (number.kind == Number::Kind::kInt) return FieldValue(number.i);
    if (number.kind == Number::Kind::kUint) return FieldValue(number.u);
    return FieldValue(number.f);
  };
  // Rounded as the values of the field are: so 20.1 is equal to what was stored as 20.1.
  if (field.type != FieldType::kInt && field.type != FieldType::kUint) return parse(field);
  for (const FieldType type : {FieldType::kInt, FieldType::kUint}) {
    if (absl::StatusOr<FieldValue> whole = parse(Field{.name = {}, .type = type}); whole.ok()) {
      return whole;
    }
  }
  return parse(Field{});
}

}  // namespace

absl::StatusOr<Condition> ParseCondition(const Schema& schema, std::string_view text) {
  text = Trim(text);
  const size_t name_end = EndOfName(text);
  if (name_end != std::string_view::npos) {
    const std::string_view rest = Trim(text.substr(name_end));
    for (const Sign& sign : kSigns) {
      if (!rest.starts_with(sign.text)) continue;
      ASSIGN_OR_RETURN(const Field* const field,
                       FindField(schema, Unquote(Trim(text.substr(0, name_end)))));
      absl::StatusOr<FieldValue> value =
          ParseFieldValue(*field, Trim(rest.substr(sign.text.size())));
      if (!value.ok()) {
        return absl::InvalidArgumentError(
            absl::StrFormat("condition \"%s\": %s", text, value.status().message()));
      }
      return Condition{
          .field = field->name, .comparison = sign.comparison, .value = *std::move(value)};
    }
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("\"%s\" is not a condition such as \"temp > 20\"", text));
}

}  // namespace cairn::tool
