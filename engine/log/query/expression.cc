#include "engine/log/query/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "cairn/time_text.h"
#include "engine/base/status.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

// The deepest nesting of parentheses. The parser calls itself for each.
constexpr int kMaxNesting = 64;

constexpr std::string_view kBlanks = " \t\n\r";

struct Sign {
  std::string_view text;
  Comparison comparison;
  Comparison turned;  // the sign when both sides change places
};
// Each sign stands before those that it begins with.
constexpr std::array<Sign, 8> kSigns = {
    {{"==", Comparison::kEqual, Comparison::kEqual},
     {"!=", Comparison::kNotEqual, Comparison::kNotEqual},
     {"<>", Comparison::kNotEqual, Comparison::kNotEqual},
     {"<=", Comparison::kLessOrEqual, Comparison::kGreaterOrEqual},
     {">=", Comparison::kGreaterOrEqual, Comparison::kLessOrEqual},
     {"=", Comparison::kEqual, Comparison::kEqual},
     {"<", Comparison::kLess, Comparison::kGreater},
     {">", Comparison::kGreater, Comparison::kLess}}};

struct Token {
  enum class Kind : uint8_t { kEnd, kWord, kText, kSign, kOther };
  Kind kind = Kind::kEnd;
  size_t at = 0;          // place in the text
  size_t end = 0;         // place after it
  std::string text = {};  // for a text, the part between the quotes
};

// A name or a value: a text in quotes, or some words that follow each other.
struct Operand {
  size_t at = 0;
  std::string text = {};
  bool quoted = false;
  bool has_blanks = false;
};

// "value" is the name of the only field of records without names.
std::string ShownNameOf(const Field& field) { return field.name.empty() ? "value" : field.name; }

// Returns true for the words that mean no value in other languages.
bool MeansNoValue(std::string_view word) {
  constexpr std::array<std::string_view, 5> kWords = {"nan", "nat", "null", "none", "na"};
  return std::ranges::find(kWords, absl::AsciiStrToLower(std::string(word))) != kWords.end();
}

// Returns true for a number that no double holds.
bool IsOutOfRange(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return stop == text.data() + text.size() && error == std::errc::result_out_of_range;
}

class ExpressionParser {
 public:
  ExpressionParser(const Schema& schema, std::string_view text) : schema_(schema), text_(text) {}

  absl::StatusOr<Expression> ParseAll() {
    CAIRN_RETURN_IF_ERROR(Advance());
    CAIRN_ASSIGN_OR_RETURN(Expression all, ParseAny(0));
    if (token_.kind != Token::Kind::kEnd) return Expected("'and', 'or' or the end");
    return all;
  }

 private:
  absl::Status Problem(size_t at, std::string_view what) const {
    return InvalidArgument("condition \"%s\": at character %d: %s", text_, at + 1, what);
  }
  absl::Status Expected(std::string_view what) const {
    const std::string got =
        token_.kind == Token::Kind::kEnd
            ? "the end"
            : absl::StrFormat("'%s'", text_.substr(token_.at, token_.end - token_.at));
    return Problem(token_.at, absl::StrFormat("expected %s, got %s", what, got));
  }

  // Reads the next token.
  absl::Status Advance() {
    const size_t at = std::min(text_.find_first_not_of(kBlanks, token_.end), text_.size());
    token_ = {.kind = Token::Kind::kEnd, .at = at, .end = at};
    if (at == text_.size()) return absl::OkStatus();
    const std::string_view rest = text_.substr(at);
    const bool prefix = rest.front() == 'b' || rest.front() == 'u';
    const char quote = rest[prefix && rest.size() > 1 ? 1 : 0];
    if (quote == '\'' || quote == '"') return TakeText(at + (prefix ? 1 : 0), rest.front() == 'b');
    for (const Sign& sign : kSigns) {
      if (rest.starts_with(sign.text)) return TakeToken(Token::Kind::kSign, sign.text.size());
    }
    constexpr std::string_view kEnds = " \t\n\r()[],=!<>'\"&|~";
    const size_t size = std::min(rest.find_first_of(kEnds), rest.size());
    return size > 0 ? TakeToken(Token::Kind::kWord, size) : TakeToken(Token::Kind::kOther, 1);
  }
  absl::Status TakeToken(Token::Kind kind, size_t size) {
    token_.kind = kind;
    token_.end = token_.at + size;
    token_.text = text_.substr(token_.at, size);
    return absl::OkStatus();
  }

  // Reads a text in quotes. Two quotes, or a quote or backslash after a backslash, stand for one of
  // them. If `bytes`, the text is one of Python's, which has further escapes.
  absl::Status TakeText(size_t quote_at, bool bytes) {
    const char quote = text_[quote_at];
    token_.kind = Token::Kind::kText;
    for (size_t i = quote_at + 1; i < text_.size(); ++i) {
      const char c = text_[i];
      const char next = i + 1 < text_.size() ? text_[i + 1] : '\0';
      const bool escaped = c == '\\' && (next == '\\' || next == '\'' || next == '"');
      if (escaped || (c == quote && next == quote)) {
        token_.text += text_[++i];
      } else if (c == '\\' && bytes) {
        CAIRN_RETURN_IF_ERROR(TakeEscape(i));
      } else if (c == quote) {
        token_.end = i + 1;
        return absl::OkStatus();
      } else {
        token_.text += c;
      }
    }
    return Problem(quote_at, "a quote without an end");
  }
  absl::Status TakeEscape(size_t& i) {
    constexpr std::array<std::pair<char, char>, 3> kEscapes = {
        {{'n', '\n'}, {'r', '\r'}, {'t', '\t'}}};
    const char letter = i + 1 < text_.size() ? text_[i + 1] : '\0';
    uint32_t code = 0;
    if (letter == 'x' && absl::SimpleHexAtoi(std::string(text_.substr(i + 2, 2)), &code)) {
      token_.text += static_cast<char>(code);
      i += 3;
      return absl::OkStatus();
    }
    for (const auto& [name, character] : kEscapes) {
      if (letter != name) continue;
      token_.text += character;
      ++i;
      return absl::OkStatus();
    }
    return Problem(i, "expected \\n, \\r, \\t, \\x and two digits, or a quote after the backslash");
  }

  bool IsWord(std::string_view word) const {
    return token_.kind == Token::Kind::kWord && absl::AsciiStrToLower(token_.text) == word;
  }
  bool IsOther(std::string_view c) const {
    return token_.kind == Token::Kind::kOther && token_.text == c;
  }
  bool IsKeyword() const { return IsWord("and") || IsWord("or") || IsWord("not") || IsWord("in"); }
  // Returns true before "is null" and "is not null". Any other "is" is part of a name.
  bool IsNullTest() const {
    if (!IsWord("is")) return false;
    ExpressionParser ahead = *this;
    if (!ahead.Advance().ok()) return false;
    if (ahead.IsWord("not") && !ahead.Advance().ok()) return false;
    return ahead.IsWord("null");
  }

  // Parses parts with a word between them.
  template <typename ParsePart>
  absl::StatusOr<Expression> ParseParts(Expression::Kind kind, std::string_view word,
                                        const ParsePart& parse) {
    CAIRN_ASSIGN_OR_RETURN(Expression first, parse());
    if (!IsWord(word)) return first;
    Expression all = {.kind = kind};
    all.parts.push_back(std::move(first));
    while (IsWord(word)) {
      CAIRN_RETURN_IF_ERROR(Advance());
      CAIRN_ASSIGN_OR_RETURN(Expression part, parse());
      all.parts.push_back(std::move(part));
    }
    return all;
  }
  absl::StatusOr<Expression> ParseAny(int depth) {
    return ParseParts(Expression::Kind::kAny, "or", [&] { return ParseEvery(depth); });
  }
  absl::StatusOr<Expression> ParseEvery(int depth) {
    return ParseParts(Expression::Kind::kAll, "and", [&] { return ParseTerm(depth); });
  }

  absl::StatusOr<Expression> ParseTerm(int depth) {
    if (depth > kMaxNesting) return Problem(token_.at, "nested too deeply");
    if (IsWord("not")) {
      CAIRN_RETURN_IF_ERROR(Advance());
      CAIRN_ASSIGN_OR_RETURN(Expression part, ParseTerm(depth + 1));
      return Not(std::move(part));
    }
    if (!IsOther("(")) return ParseComparison();
    CAIRN_RETURN_IF_ERROR(Advance());
    CAIRN_ASSIGN_OR_RETURN(Expression inner, ParseAny(depth + 1));
    if (!IsOther(")")) return Expected("'and', 'or' or ')'");
    CAIRN_RETURN_IF_ERROR(Advance());
    return inner;
  }
  static Expression Not(Expression part) {
    Expression negated = {.kind = Expression::Kind::kNot};
    negated.parts.push_back(std::move(part));
    return negated;
  }

  // Parses "a < 5", "0 < a <= 5", "a in (1, 2)", "a not in (1, 2)", "a is null", or a boolean
  // field.
  absl::StatusOr<Expression> ParseComparison() {
    CAIRN_ASSIGN_OR_RETURN(Operand left, ParseOperand("a field"));
    if (IsNullTest()) return ParseNullTest(left);
    if (IsWord("in") || IsWord("not")) return ParseIn(left);
    if (token_.kind != Token::Kind::kSign) {
      CAIRN_ASSIGN_OR_RETURN(const Field* const field, FindField(left));
      if (field->type != FieldType::kBool) return Expected("a comparison such as '>'");
      return Test(*field, Comparison::kEqual, int64_t{1});
    }
    Expression all = {.kind = Expression::Kind::kAll};
    while (token_.kind == Token::Kind::kSign) {
      const Sign sign = *std::ranges::find(kSigns, std::string_view(token_.text), &Sign::text);
      CAIRN_RETURN_IF_ERROR(Advance());
      CAIRN_ASSIGN_OR_RETURN(Operand right, ParseOperand("a value"));
      CAIRN_ASSIGN_OR_RETURN(Expression part, Compare(left, sign, right));
      all.parts.push_back(std::move(part));
      left = std::move(right);
    }
    return all.parts.size() == 1 ? std::move(all.parts.front()) : std::move(all);
  }

  absl::StatusOr<Expression> ParseNullTest(const Operand& name) {
    CAIRN_ASSIGN_OR_RETURN(const Field* const field, FindField(name));
    CAIRN_RETURN_IF_ERROR(Advance());
    const bool negated = IsWord("not");
    if (negated) CAIRN_RETURN_IF_ERROR(Advance());
    CAIRN_RETURN_IF_ERROR(Advance());
    Expression some = HasValue(*field);
    return negated ? std::move(some) : Not(std::move(some));
  }
  // Returns a comparison that every value fulfils, but neither a NaN, a time that is none, nor the
  // field of a record that is older than it.
  static Expression HasValue(const Field& field) {
    if (IsText(field)) return Test(field, Comparison::kGreaterOrEqual, std::string());
    switch (field.type) {
      case FieldType::kFloat:
        return Test(field, Comparison::kLessOrEqual, std::numeric_limits<double>::infinity());
      case FieldType::kTimestamp:
        return Test(field, Comparison::kGreater, std::numeric_limits<int64_t>::min());
      default:
        return Test(field, Comparison::kGreaterOrEqual, std::numeric_limits<int64_t>::min());
    }
  }

  absl::StatusOr<Expression> ParseIn(const Operand& name) {
    const bool negated = IsWord("not");
    if (negated) {
      CAIRN_RETURN_IF_ERROR(Advance());
      if (!IsWord("in")) return Expected("'in'");
    }
    CAIRN_RETURN_IF_ERROR(Advance());
    CAIRN_ASSIGN_OR_RETURN(const Field* const field, FindField(name));
    const bool square = IsOther("[");
    if (!square && !IsOther("(")) return Expected("'(' and a list of values");
    const std::string_view end = square ? "]" : ")";
    CAIRN_RETURN_IF_ERROR(Advance());
    Expression any = {.kind = Expression::Kind::kAny};
    do {
      CAIRN_ASSIGN_OR_RETURN(const Operand value, ParseOperand("a value"));
      CAIRN_ASSIGN_OR_RETURN(Expression part, CompareWith(*field, Comparison::kEqual, value));
      any.parts.push_back(std::move(part));
      if (!IsOther(",")) break;
      CAIRN_RETURN_IF_ERROR(Advance());
    } while (!IsOther(end));
    if (!IsOther(end)) return Expected(absl::StrFormat("',' or '%s'", end));
    CAIRN_RETURN_IF_ERROR(Advance());
    return negated ? Not(std::move(any)) : std::move(any);
  }

  absl::StatusOr<Operand> ParseOperand(std::string_view what) {
    Operand operand = {.at = token_.at, .text = token_.text};
    if (token_.kind == Token::Kind::kText) {
      operand.quoted = true;
      CAIRN_RETURN_IF_ERROR(Advance());
      return operand;
    }
    if (token_.kind != Token::Kind::kWord || IsKeyword()) return Expected(what);
    size_t end = token_.end;
    CAIRN_RETURN_IF_ERROR(Advance());
    while (token_.kind == Token::Kind::kWord && !IsKeyword() && !IsNullTest()) {
      operand.has_blanks = true;
      end = token_.end;
      CAIRN_RETURN_IF_ERROR(Advance());
    }
    operand.text = text_.substr(operand.at, end - operand.at);
    return operand;
  }

  const Field* Named(const Operand& operand) const {
    // "value" is the name of the only field of records without names.
    const bool only = operand.text == "value" && schema_.fields().size() == 1;
    if (const Field* const field = schema_.Find(operand.text)) return field;
    return only ? schema_.Find("") : nullptr;
  }
  absl::StatusOr<const Field*> FindField(const Operand& operand) const {
    if (const Field* const field = Named(operand)) return field;
    const auto name = [](std::string* out, const Field& field) { *out += ShownNameOf(field); };
    return NotFound("condition \"%s\": at character %d: no field '%s'; there are %s", text_,
                    operand.at + 1, operand.text, absl::StrJoin(schema_.fields(), ", ", name));
  }

  // A name may be on either side. A name in quotes counts only if the other side is not a name.
  absl::StatusOr<Expression> Compare(const Operand& left, const Sign& sign, const Operand& right) {
    const Field* const a = Named(left);
    const Field* const b = Named(right);
    if (a != nullptr && b != nullptr && left.quoted == right.quoted && !left.quoted) {
      return Problem(right.at,
                     "a field is compared with a value, not with a field: texts go in "
                     "quotes");
    }
    const bool turned = b != nullptr && !right.quoted && (a == nullptr || left.quoted);
    if (turned || (a == nullptr && b != nullptr)) return CompareWith(*b, sign.turned, left);
    CAIRN_ASSIGN_OR_RETURN(const Field* const field, FindField(left));
    return CompareWith(*field, sign.comparison, right);
  }

  absl::StatusOr<Expression> CompareWith(const Field& field, Comparison comparison,
                                         const Operand& operand) {
    absl::StatusOr<FieldValue> value = ValueOf(field, comparison, operand);
    if (!value.ok()) return Problem(operand.at, std::string(value.status().message()));
    return Test(field, comparison, *std::move(value));
  }
  static Expression Test(const Field& field, Comparison comparison, FieldValue value) {
    return {
        .condition = {.field = field.name, .comparison = comparison, .value = std::move(value)}};
  }

  static absl::StatusOr<FieldValue> ValueOf(const Field& field, Comparison comparison,
                                            const Operand& operand) {
    const auto needs = [&](std::string_view what) {
      return InvalidArgument("field '%s' is compared with %s, got '%s'", field.name, what,
                             operand.text);
    };
    if (!operand.quoted && !IsText(field) && MeansNoValue(operand.text)) {
      const std::string name = ShownNameOf(field);
      return InvalidArgument("nothing is equal to %s: expected '%s is null' or '%s is not null'",
                             operand.text, name, name);
    }
    if (field.type == FieldType::kTimestamp) return TimeValue(field, comparison, operand.text);
    if (operand.has_blanks) return needs("one word, or a text in quotes");
    if (IsText(field)) {
      if (!operand.quoted && NumberOf(operand.text)) return needs("a text in quotes");
      return FieldValue(operand.text);
    }
    if (operand.quoted) return needs("a value without quotes");
    if (field.type == FieldType::kBool) {
      if (absl::AsciiStrToLower(operand.text) == "true") return FieldValue(int64_t{1});
      if (absl::AsciiStrToLower(operand.text) == "false") return FieldValue(int64_t{0});
    }
    const bool single = field.type == FieldType::kFloat && field.size == 4;
    std::optional<FieldValue> number = NumberOf(operand.text, single);
    if (!number && IsOutOfRange(operand.text)) {
      return InvalidArgument("field '%s': %s is out of range", field.name, operand.text);
    }
    if (!number) return needs(field.type == FieldType::kBool ? "true or false" : "a number");
    return *std::move(number);
  }

  // Reads a time. One that lies between two counts is later than the first and earlier than the
  // second.
  static absl::StatusOr<FieldValue> TimeValue(const Field& field, Comparison comparison,
                                              std::string_view text) {
    TimeTextOptions options = {.rounding = TimeRounding::kExact};
    if (comparison == Comparison::kLess || comparison == Comparison::kGreaterOrEqual) {
      options.rounding = TimeRounding::kUp;
    } else if (comparison == Comparison::kGreater || comparison == Comparison::kLessOrEqual) {
      options.rounding = TimeRounding::kDown;
    }
    CAIRN_ASSIGN_OR_RETURN(const int64_t time, ParseTime(text, field.unit, options));
    return FieldValue(time);
  }

  // Reads a number. It is never a NaN, because nothing is equal to one. A number that is compared
  // with a float of four bytes is read as such a float if possible, because it would be rounded
  // twice if it was read as a double.
  static std::optional<FieldValue> NumberOf(std::string_view text, bool single = false) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const char* const end = text.data() + text.size();
    const auto parse = [&](auto number) -> std::optional<FieldValue> {
      const auto [stop, error] = std::from_chars(text.data(), end, number);
      if (stop != end || error != std::errc()) return std::nullopt;
      if (std::isnan(static_cast<double>(number))) return std::nullopt;
      return FieldValue(number);
    };
    if (text.empty() || text.starts_with('+')) return std::nullopt;
    if (auto number = single ? parse(0.0F) : std::nullopt) return number;
    if (auto whole = parse(int64_t{0})) return whole;
    if (auto whole = parse(uint64_t{0})) return whole;
    return parse(0.0);
  }

  const Schema& schema_;
  std::string_view text_;
  Token token_;
};

}  // namespace

absl::StatusOr<Expression> ParseExpression(const Schema& schema, std::string_view text) {
  return ExpressionParser(schema, text).ParseAll();
}

}  // namespace cairn::log
