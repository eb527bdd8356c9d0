#include "tools/dtypes/literal.h"

#include <charconv>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

#include "tools/status.h"

namespace cairn::dtypes {

namespace {

constexpr int kMaxDepth = 16;

class LiteralParser {
 public:
  explicit LiteralParser(std::string_view text) : text_(text) {}

  absl::StatusOr<Literal> ParseAll() {
    ASSIGN_OR_RETURN(Literal literal, Parse(0));
    if (Next() != '\0') return Wrong();
    return literal;
  }

 private:
  absl::Status Wrong() const {
    return absl::InvalidArgumentError(
        absl::StrFormat("dtype: cannot be parsed from byte %d on", at_));
  }

  // The next character that is no space; zero at the end.
  char Next() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Take(char c) {
    if (Next() != c || c == '\0') return false;
    ++at_;
    return true;
  }

  absl::StatusOr<Literal> Parse(int depth) {
    if (depth > kMaxDepth) return Wrong();
    if (Take('[')) return ParseItems(Literal::Kind::kList, ']', depth);
    if (Take('(')) return ParseItems(Literal::Kind::kTuple, ')', depth);
    if (Take('{')) return ParseItems(Literal::Kind::kDict, '}', depth);
    if (Take('\'')) return ParseText('\'');
    if (Take('"')) return ParseText('"');
    return ParseNumber();
  }

  absl::StatusOr<Literal> ParseItems(Literal::Kind kind, char end, int depth) {
    Literal literal = {.kind = kind};
    bool comma = false;
    while (!Take(end)) {
      if (!literal.items.empty() && !comma) {
        return Wrong();
      }
      ASSIGN_OR_RETURN(Literal item, Parse(depth + 1));
      literal.items.push_back(std::move(item));
      if (kind == Literal::Kind::kDict) {
        if (!Take(':')) return Wrong();
        ASSIGN_OR_RETURN(Literal value, Parse(depth + 1));
        literal.items.push_back(std::move(value));
      }
      comma = Take(',');
    }
    // What stands in brackets without a comma is no tuple.
    if (kind == Literal::Kind::kTuple && literal.items.size() == 1 && !comma) {
      Literal only = std::move(literal.items[0]);
      return only;
    }
    return literal;
  }

  absl::StatusOr<Literal> ParseText(char quote) {
    Literal literal;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\') {
        ++at_;
        const bool known =
            at_ < text_.size() && (text_[at_] == '\\' || text_[at_] == '\'' || text_[at_] == '"');
        if (!known) return Wrong();
      }
      literal.text.push_back(text_[at_++]);
    }
    if (at_ == text_.size()) return Wrong();
    ++at_;
    return literal;
  }

  absl::StatusOr<Literal> ParseNumber() {
    Next();
    const std::string_view rest = text_.substr(at_);
    Literal literal = {.kind = Literal::Kind::kNumber};
    for (const auto& [name, value] : {std::pair("True", 1), std::pair("False", 0)}) {
      if (!rest.starts_with(name)) continue;
      at_ += std::string_view(name).size();
      literal.number = value;
      return literal;
    }
    const auto [stop, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), literal.number);
    if (error != std::errc()) return Wrong();
    at_ += static_cast<size_t>(stop - rest.data());
    return literal;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Literal* Literal::At(std::string_view key) const {
  for (size_t i = 0; kind == Kind::kDict && i + 1 < items.size(); i += 2) {
    if (items[i].kind == Kind::kText && items[i].text == key) return &items[i + 1];
  }
  return nullptr;
}

absl::StatusOr<Literal> ParseLiteral(std::string_view text) {
  return LiteralParser(text).ParseAll();
}

}  // namespace cairn::dtypes
