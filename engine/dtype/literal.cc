#include "engine/dtype/literal.h"

#include <charconv>
#include <utility>

#include "engine/base/status.h"

namespace cairn::dtype {

namespace {

constexpr int kMaxDepth = 16;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  absl::StatusOr<Literal> ParseAll() {
    CAIRN_ASSIGN_OR_RETURN(Literal literal, Parse(0));
    SkipSpace();
    if (at_ != text_.size()) return Problem("more than one value");
    return literal;
  }

 private:
  absl::Status Problem(std::string_view what) const {
    return InvalidArgument("dtype at %d: %s", at_, what);
  }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  // Returns the next character that is not a space, 0 at the end.
  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Accept(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  absl::StatusOr<Literal> Parse(int depth) {
    if (depth > kMaxDepth) return Problem("nested too deeply");
    const char c = Peek();
    if (c == '[') return ParseItems(Literal::Kind::kList, ']', depth);
    if (c == '(') return ParseItems(Literal::Kind::kTuple, ')', depth);
    if (c == '{') return ParseItems(Literal::Kind::kDict, '}', depth);
    if (c == '\'' || c == '"') return ParseText();
    if (IsDigit(c) || c == '-') return ParseNumber();
    if (IsLetter(c)) return ParseWord();
    return Problem("expected a text, a number, a list or a tuple");
  }

  absl::StatusOr<Literal> ParseItems(Literal::Kind kind, char end, int depth) {
    Literal literal = {.kind = kind};
    bool comma = false;
    ++at_;
    while (!Accept(end)) {
      CAIRN_ASSIGN_OR_RETURN(Literal item, Parse(depth + 1));
      literal.items.push_back(std::move(item));
      if (kind == Literal::Kind::kDict) {
        if (!Accept(':')) return Problem("expected ':'");
        CAIRN_ASSIGN_OR_RETURN(Literal value, Parse(depth + 1));
        literal.items.push_back(std::move(value));
      }
      comma = Accept(',');
      if (!comma && Peek() != end) return Problem("expected ',' or the end of the list");
    }
    // Parentheses make a tuple of one value only with a comma.
    if (kind == Literal::Kind::kTuple && literal.items.size() == 1 && !comma) {
      Literal only = std::move(literal.items[0]);
      return only;
    }
    return literal;
  }

  // The only escapes are those that name a character by itself.
  absl::StatusOr<Literal> ParseText() {
    Literal literal = {.kind = Literal::Kind::kText};
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\') {
        const std::string_view rest = text_.substr(at_ + 1, 1);
        if (rest != "\\" && rest != "'" && rest != "\"") return Problem("escape in a text");
        ++at_;
      }
      literal.text.push_back(text_[at_++]);
    }
    if (at_ == text_.size()) return Problem("a text without an end");
    ++at_;
    return literal;
  }

  absl::StatusOr<Literal> ParseNumber() {
    Literal literal = {.kind = Literal::Kind::kNumber};
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, literal.number);
    if (error != std::errc()) return Problem("not a whole number");
    at_ = static_cast<size_t>(stop - text_.data());
    return literal;
  }

  absl::StatusOr<Literal> ParseWord() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsLetter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "True" || word == "False") {
      return Literal{.kind = Literal::Kind::kNumber, .number = word == "True" ? 1 : 0};
    }
    // Python 2 and bytes put a letter before a text.
    const bool is_prefix = word == "b" || word == "u";
    if (is_prefix && at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
      return ParseText();
    }
    at_ = begin;
    return Problem("expected a text, a number, a list or a tuple");
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Literal* Literal::At(std::string_view key) const {
  if (kind != Kind::kDict) return nullptr;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind == Kind::kText && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

absl::StatusOr<Literal> ParseLiteral(std::string_view text) {
  return LiteralParser(text).ParseAll();
}

}  // namespace cairn::dtype
