#include "engine/log/query/filter.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/numeric/int128.h"

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/log/query/field_sums.h"
#include "engine/log/query/number_kernels.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

bool Holds(Comparison comparison, std::partial_ordering order) {
  switch (comparison) {
    case Comparison::kEqual:
      return order == 0;
    case Comparison::kNotEqual:
      return order != 0;
    case Comparison::kLess:
      return order < 0;
    case Comparison::kLessOrEqual:
      return order <= 0;
    case Comparison::kGreater:
      return order > 0;
    case Comparison::kGreaterOrEqual:
      break;
  }
  return order >= 0;
}

// A number on the line of all integers: itself, or the next integer below it.
struct Place {
  absl::int128 floor = 0;
  bool is_whole = true;
};

// Returns nothing for NaN.
std::optional<Place> PlaceOf(const FieldValue& value) {
  if (const auto* const i = std::get_if<int64_t>(&value)) return Place{.floor = *i};
  if (const auto* const u = std::get_if<uint64_t>(&value)) return Place{.floor = *u};
  const double real = std::get<double>(value);
  if (std::isnan(real)) return std::nullopt;
  constexpr double kFar = 1e30;  // no integer of 64 bits is as far away
  const double floor = std::clamp(std::floor(real), -kFar, kFar);
  return Place{.floor = absl::int128(floor), .is_whole = floor == real};
}

bool IsLess(Comparison comparison) {
  return comparison == Comparison::kLess || comparison == Comparison::kLessOrEqual;
}
bool IsGreater(Comparison comparison) {
  return comparison == Comparison::kGreater || comparison == Comparison::kGreaterOrEqual;
}

double ToDouble(const FieldValue& value) {
  if (const auto* const i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  if (const auto* const u = std::get_if<uint64_t>(&value)) return static_cast<double>(*u);
  const auto* const d = std::get_if<double>(&value);
  return d == nullptr ? 0 : *d;
}

std::string_view TextAt(const std::byte* bytes, int32_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  while (text.ends_with('\0')) text.remove_suffix(1);
  return text;
}

// Returns the comparison that holds if this one does not, for values that are not NaN.
Comparison Opposite(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return Comparison::kNotEqual;
    case Comparison::kNotEqual:
      return Comparison::kEqual;
    case Comparison::kLess:
      return Comparison::kGreaterOrEqual;
    case Comparison::kLessOrEqual:
      return Comparison::kGreater;
    case Comparison::kGreater:
      return Comparison::kLessOrEqual;
    case Comparison::kGreaterOrEqual:
      break;
  }
  return Comparison::kLess;
}

// Least and greatest are rounded to doubles, so only a difference as doubles counts.
bool MayHold(Comparison comparison, const FieldValue& wanted, const FieldAggregate& values) {
  if (comparison == Comparison::kNotEqual) return true;
  if (values.count == 0) return false;  // NaNs
  const double value = ToDouble(wanted);
  const bool too_great = !IsGreater(comparison) && values.min > value;
  const bool too_small = !IsLess(comparison) && values.max < value;
  return !too_great && !too_small;
}

}  // namespace

absl::StatusOr<Filter> Filter::Make(const Schema& schema, std::span<const Condition> conditions,
                                    std::span<const std::string> texts) {
  Filter filter;
  for (const Condition& condition : conditions) {
    CAIRN_ASSIGN_OR_RETURN(Node node, filter.MakeNode(schema, {.condition = condition}));
    filter.all_.parts.push_back(std::move(node));
  }
  for (const std::string& text : texts) {
    CAIRN_ASSIGN_OR_RETURN(const Expression expression, ParseExpression(schema, text));
    CAIRN_ASSIGN_OR_RETURN(Node node, filter.MakeNode(schema, expression));
    filter.all_.parts.push_back(std::move(node));
  }
  return filter;
}

absl::StatusOr<Filter> Filter::Make(const LogState& state, std::span<const Condition> conditions,
                                    std::span<const std::string> texts) {
  CAIRN_ASSIGN_OR_RETURN(Filter filter, Make(state.schema(), conditions, texts));
  filter.TestTexts(state);
  return filter;
}

// Compares the text of each code once.
void Filter::TestTexts(const LogState& state) {
  for (Test& test : tests_) {
    const KeyTextsPtr texts = state.TextsOf(test.column);
    const auto* const wanted = std::get_if<std::string>(&test.value);
    if (texts == nullptr || wanted == nullptr) continue;
    int64_t count = 0;
    for (int64_t code = 0; code < texts->size(); ++code) {
      const bool holds =
          Holds(test.comparison, texts->Get(static_cast<uint32_t>(code)) <=> *wanted);
      test.holding.push_back(count);
      test.holds.push_back(holds ? 1 : 0);
      count += holds ? 1 : 0;
    }
    test.holding.push_back(count);
  }
}

bool Filter::MayHoldText(const Test& test, bool negated, const FieldAggregate& codes) {
  if (codes.count == 0) return false;
  const auto end = static_cast<double>(test.holds.size());
  if (!(codes.min >= 0 && codes.min <= codes.max && codes.max < end)) return true;
  const auto least = static_cast<size_t>(codes.min);
  const auto after = static_cast<size_t>(codes.max) + 1;
  const int64_t holding = test.holding[after] - test.holding[least];
  return negated ? std::cmp_less(holding, after - least) : holding > 0;
}

absl::StatusOr<Filter::Node> Filter::MakeNode(const Schema& schema, const Expression& expression) {
  Node node = {.kind = expression.kind, .test = tests_.size()};
  if (expression.kind == Expression::Kind::kTest) {
    CAIRN_ASSIGN_OR_RETURN(Test test, MakeTest(schema, expression.condition));
    fields_.push_back(test.column);
    tests_.push_back(std::move(test));
  }
  for (const Expression& part : expression.parts) {
    CAIRN_ASSIGN_OR_RETURN(Node made, MakeNode(schema, part));
    node.parts.push_back(std::move(made));
  }
  return node;
}

absl::StatusOr<Filter::Test> Filter::MakeTest(const Schema& schema, const Condition& condition) {
  const auto field = std::ranges::find(schema.fields(), condition.field, &Field::name);
  if (field == schema.fields().end()) return NotFound("log: no field '%s'", condition.field);
  const bool is_text = std::holds_alternative<std::string>(condition.value);
  if (is_text != IsText(*field)) {
    return InvalidArgument("log: field '%s' is compared with %s", field->name,
                           is_text ? "a text" : "a number");
  }
  if (std::holds_alternative<std::monostate>(condition.value)) {
    return InvalidArgument("log: field '%s' is compared with no value", field->name);
  }
  const auto column = static_cast<size_t>(field - schema.fields().begin());
  const auto number = static_cast<size_t>(std::count_if(schema.fields().begin(), field, IsNumber));
  Test test = {.field = *field,
               .column = column,
               .number = number,
               .comparison = condition.comparison,
               .value = condition.value};
  if (field->type == FieldType::kFloat) {
    const auto round = [&](const auto& value) {
      if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
        test.value = RoundTo(*field, value);
      }
    };
    std::visit(round, condition.value);
  }
  if (!IsText(*field)) test.exact = MakeExact(*field, test.comparison, test.value);
  return test;
}

// An integer is less than a fraction if it is at most the integer below that.
Filter::Exact Filter::MakeExact(const Field& field, Comparison comparison,
                                const FieldValue& value) {
  if (field.type == FieldType::kFloat) {
    return {.comparison = comparison, .value = std::get<double>(value)};
  }
  const auto make = [&]<typename T>(T least, T greatest) -> Exact {
    const Exact never = {.comparison = Comparison::kLess, .value = least};
    const bool differs = comparison == Comparison::kNotEqual;
    const std::optional<Place> place = PlaceOf(value);
    if (!place.has_value()) return differs ? Exact{.always = true} : never;
    const bool below = place->floor < least;
    const bool above = place->floor > greatest;
    if (place->is_whole && !below && !above) {
      return {.comparison = comparison, .value = static_cast<T>(place->floor)};
    }
    if (differs) return {.always = true};
    if (comparison == Comparison::kEqual) return never;
    if (IsLess(comparison) ? below : above) return never;
    if (below) return {.comparison = Comparison::kGreaterOrEqual, .value = least};
    if (above) return {.comparison = Comparison::kLessOrEqual, .value = greatest};
    return {.comparison = IsLess(comparison) ? Comparison::kLessOrEqual : Comparison::kGreater,
            .value = static_cast<T>(place->floor)};
  };
  if (field.type == FieldType::kUint) {
    return make(uint64_t{0}, std::numeric_limits<uint64_t>::max());
  }
  Exact exact = make(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  // Each record differs from a time that means none.
  exact.always |= field.type == FieldType::kTimestamp && comparison == Comparison::kNotEqual &&
                  value == FieldValue(kNoTime);
  return exact;
}

bool Filter::MayMatch(const Node& node, bool negated, const Piece& piece) const {
  if (node.kind == Expression::Kind::kNot) return MayMatch(node.parts.front(), !negated, piece);
  if (node.kind == Expression::Kind::kTest) {
    const Test& test = tests_[node.test];
    if (!IsNumber(test.field)) return true;
    const FieldAggregate& values = piece.fields[test.number].values;
    if (test.field.type == FieldType::kText) {
      const bool lacks_some = values.count < piece.nrecords;
      const bool holds_without = negated != (test.comparison == Comparison::kNotEqual);
      return (lacks_some && holds_without) || MayHoldText(test, negated, values);
    }
    if (!negated) return MayHold(test.comparison, test.value, values);
    const bool has_nan = values.count < piece.nrecords;
    return has_nan || MayHold(Opposite(test.comparison), test.value, values);
  }
  const auto may_match = [&](const Node& part) { return MayMatch(part, negated, piece); };
  const bool all = (node.kind == Expression::Kind::kAll) != negated;
  return all ? std::ranges::all_of(node.parts, may_match)
             : std::ranges::any_of(node.parts, may_match);
}

bool Filter::MayMatch(const ChunkStats& stats) const {
  return std::ranges::any_of(stats.pieces,
                             [this](const Piece& piece) { return MayMatch(all_, false, piece); });
}

void Filter::Apply(const Columns& columns, std::vector<uint8_t>& chosen) const {
  Apply(all_, columns, chosen);
}

void Filter::Apply(const Node& node, const Columns& columns, std::vector<uint8_t>& chosen) const {
  switch (node.kind) {
    case Expression::Kind::kAll:
      for (const Node& part : node.parts) Apply(part, columns, chosen);
      return;
    case Expression::Kind::kAny: {
      std::vector<uint8_t> some(chosen.size());
      for (const Node& part : node.parts) {
        std::vector<uint8_t> these = chosen;
        Apply(part, columns, these);
        for (size_t i = 0; i < some.size(); ++i) some[i] |= these[i];
      }
      chosen = std::move(some);
      return;
    }
    case Expression::Kind::kNot: {
      std::vector<uint8_t> these = chosen;
      Apply(node.parts.front(), columns, these);
      for (size_t i = 0; i < these.size(); ++i) chosen[i] = chosen[i] != 0 && these[i] == 0;
      return;
    }
    case Expression::Kind::kTest:
      break;
  }
  const Test& test = tests_[node.test];
  const std::byte* const values = columns.fields[test.column].data();
  const auto step = static_cast<size_t>(test.field.size);
  // A record without a value is compared as a NaN is.
  const auto absent = static_cast<size_t>(columns.AbsentOf(test.column));
  if (test.comparison != Comparison::kNotEqual) {
    std::fill_n(chosen.begin(), static_cast<ptrdiff_t>(absent), uint8_t{0});
  }
  if (test.field.type == FieldType::kText) {
    for (size_t i = absent; i < chosen.size(); ++i) {
      const auto code = LoadLe<uint32_t>(values + i * step);
      chosen[i] = chosen[i] != 0 && code < test.holds.size() && test.holds[code] != 0;
    }
    return;
  }
  if (const auto* const text = std::get_if<std::string>(&test.value)) {
    for (size_t i = absent; i < chosen.size(); ++i) {
      const std::partial_ordering order = TextAt(values + i * step, test.field.size) <=> *text;
      chosen[i] = chosen[i] != 0 && Holds(test.comparison, order);
    }
    return;
  }
  const Exact& exact = test.exact;
  if (exact.always) return;
  const bool has_none =
      test.field.type == FieldType::kTimestamp && exact.comparison != Comparison::kNotEqual;
  VisitLoader(test.field, [&](const auto& load) {
    using T = decltype(load(values));
    const T wanted = std::get<T>(exact.value);
    VisitNumbers(test.field, Bytes(columns.fields[test.column]).subspan(absent * step), load,
                 [&](size_t first, std::span<const T> numbers) {
                   const auto these = std::span(chosen).subspan(absent + first, numbers.size());
                   if constexpr (std::is_same_v<T, int64_t>) {
                     if (has_none) ClearUnless(numbers, Comparison::kNotEqual, kNoTime, these);
                   }
                   ClearUnless(numbers, exact.comparison, wanted, these);
                 });
  });
}

}  // namespace cairn::log
