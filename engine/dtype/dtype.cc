#include "cairn/dtype.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/status.h"
#include "engine/dtype/literal.h"

namespace cairn {

namespace {

using dtype::Literal;
using Kind = Dtype::Kind;

constexpr int64_t kMaxSize = 1 << 30;

// The names of a kind that has sizes. `long_name` stands before the number of bits; before the
// number of bytes for kBytes.
struct SizedName {
  Kind kind;
  char letter;
  std::string_view long_name;
};
constexpr std::array<SizedName, 9> kSizedNames = {{{Kind::kBool, 'b', ""},
                                                   {Kind::kInt, 'i', "int"},
                                                   {Kind::kUint, 'u', "uint"},
                                                   {Kind::kFloat, 'f', "float"},
                                                   {Kind::kComplex, 'c', "complex"},
                                                   {Kind::kBytes, 'S', "bytes"},
                                                   {Kind::kBytes, 'a', ""},
                                                   {Kind::kText, 'U', ""},
                                                   {Kind::kOpaque, 'V', ""}}};

// NumPy's characters for the numbers of C, as 64-bit Linux has them.
struct Character {
  char name;
  Kind kind;
  int64_t size;
};
constexpr std::array<Character, 17> kCharacters = {{{'b', Kind::kInt, 1},
                                                    {'B', Kind::kUint, 1},
                                                    {'h', Kind::kInt, 2},
                                                    {'H', Kind::kUint, 2},
                                                    {'i', Kind::kInt, 4},
                                                    {'I', Kind::kUint, 4},
                                                    {'l', Kind::kInt, 8},
                                                    {'L', Kind::kUint, 8},
                                                    {'q', Kind::kInt, 8},
                                                    {'Q', Kind::kUint, 8},
                                                    {'e', Kind::kFloat, 2},
                                                    {'f', Kind::kFloat, 4},
                                                    {'d', Kind::kFloat, 8},
                                                    {'g', Kind::kFloat, 16},
                                                    {'F', Kind::kComplex, 8},
                                                    {'D', Kind::kComplex, 16},
                                                    {'G', Kind::kComplex, 32}}};

bool HasSize(Kind kind, int64_t size) {
  const auto is_one_of = [size](std::initializer_list<int64_t> sizes) {
    return std::ranges::find(sizes, size) != sizes.end();
  };
  switch (kind) {
    case Kind::kBool:
      return size == 1;
    case Kind::kInt:
    case Kind::kUint:
      return is_one_of({1, 2, 4, 8});
    case Kind::kFloat:
      return is_one_of({2, 4, 8, 12, 16});
    case Kind::kComplex:
      return is_one_of({8, 16, 24, 32});
    case Kind::kTime:
    case Kind::kDuration:
      return size == 8;
    case Kind::kBytes:
    case Kind::kText:
    case Kind::kOpaque:
    case Kind::kRecord:
      break;
  }
  return size >= 0 && size <= kMaxSize;
}

std::optional<int64_t> ParseCount(std::string_view text) {
  int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (text.empty() || error != std::errc() || stop != end || count < 0) return std::nullopt;
  return count;
}

// Takes what stands in brackets at the end of `text` from it.
std::optional<std::string_view> TakeBrackets(std::string_view& text) {
  const size_t open = text.find('[');
  if (open == std::string_view::npos || !text.ends_with(']')) return std::nullopt;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  text = text.substr(0, open);
  return inside;
}

// Reads a kind and its size from "f4", "float32", "bytes16" or "d".
std::optional<std::pair<Kind, int64_t>> ParseSized(std::string_view text) {
  if (text.size() == 1) {
    const auto* const found = std::ranges::find(kCharacters, text[0], &Character::name);
    if (found != kCharacters.end()) return std::pair(found->kind, found->size);
  }
  for (const SizedName& known : kSizedNames) {
    const bool is_long = !known.long_name.empty() && text.starts_with(known.long_name);
    if (!is_long && !text.starts_with(known.letter)) continue;
    const auto count = ParseCount(text.substr(is_long ? known.long_name.size() : 1));
    if (!count.has_value()) continue;
    const bool is_bits = is_long && known.kind != Kind::kBytes;
    if (is_bits && *count % 8 != 0) continue;
    if (known.kind == Kind::kText)
      return std::pair(Kind::kText, *count > kMaxSize ? -1 : *count * 4);
    return std::pair(known.kind, is_bits ? *count / 8 : *count);
  }
  return std::nullopt;
}

absl::StatusOr<Dtype> ParseName(std::string_view text) {
  std::string_view rest = text;
  Dtype type = {.big_endian = rest.starts_with('>'), .text = std::string(text)};
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    rest.remove_prefix(1);
  }
  const std::optional<std::string_view> brackets = TakeBrackets(rest);
  const bool is_duration = rest == "m8" || rest == "timedelta64";
  if (is_duration || rest == "M8" || rest == "datetime64" || rest == "timestamp") {
    type.kind = is_duration ? Kind::kDuration : Kind::kTime;
    type.size = 8;
    type.unit = brackets.value_or("");
    return type;
  }
  std::optional<std::pair<Kind, int64_t>> sized;
  if (rest == "?" || rest == "bool") {
    sized = std::pair(Kind::kBool, 1);
  } else if (!brackets.has_value()) {
    sized = ParseSized(rest);
  } else if (const auto count = ParseCount(*brackets); rest == "bytes" && count.has_value()) {
    sized = std::pair(Kind::kBytes, *count);
  }
  if (!sized.has_value()) return Unimplemented("type %s is unknown", text);
  std::tie(type.kind, type.size) = *sized;
  if (!HasSize(type.kind, type.size)) {
    return InvalidArgument("type %s does not exist in %d bytes", text, type.size);
  }
  return type;
}

absl::StatusOr<Dtype> FromLiteral(const Literal& literal);

absl::Status CheckTotal(int64_t size) {
  if (size >= 0 && size <= kMaxSize) return absl::OkStatus();
  return InvalidArgument("%d bytes in one value, at most %d", size, kMaxSize);
}

absl::StatusOr<Dtype> FromArray(const Literal& element, const Literal& shape) {
  std::vector<int64_t> extents;
  if (shape.kind == Literal::Kind::kNumber) extents.push_back(shape.number);
  for (const Literal& extent : shape.items) {
    if (extent.kind != Literal::Kind::kNumber)
      return InvalidArgument("a shape that has no numbers");
    extents.push_back(extent.number);
  }
  CAIRN_ASSIGN_OR_RETURN(Dtype type, FromLiteral(element));
  int64_t total = 1;
  for (const int64_t extent : extents) {
    if (extent < 0 || extent > kMaxSize) return InvalidArgument("an extent of %d", extent);
    total *= extent;
    CAIRN_RETURN_IF_ERROR(CheckTotal(total));
  }
  // An array of arrays has the axes of both.
  extents.insert(extents.end(), type.shape.begin(), type.shape.end());
  const int64_t inner = std::max({int64_t{1}, type.ElementCount(), type.TotalSize()});
  if (total > kMaxSize / inner) return InvalidArgument("over %d bytes in one value", kMaxSize);
  type.shape = std::move(extents);
  return type;
}

absl::Status AddField(Dtype& record, const Literal& name, absl::StatusOr<Dtype> type,
                      std::optional<int64_t> offset) {
  // A tuple is a title and a name.
  const std::string& own = name.items.empty() ? name.text : name.items.back().text;
  if (!type.ok()) return Annotate(type.status(), "field '%s'", own);
  type->name = own;
  type->offset = offset.value_or(record.size);
  if (type->offset < 0 || type->offset > kMaxSize) {
    return InvalidArgument("field '%s': begins at byte %d", own, type->offset);
  }
  CAIRN_RETURN_IF_ERROR(CheckTotal(type->offset + type->TotalSize()));
  record.size = std::max(record.size, type->offset + type->TotalSize());
  record.fields.push_back(*std::move(type));
  return absl::OkStatus();
}

absl::StatusOr<Dtype> FromList(const Literal& list) {
  Dtype record = {.kind = Kind::kRecord};
  for (const Literal& item : list.items) {
    const std::vector<Literal>& parts = item.items;
    if (item.kind != Literal::Kind::kTuple || parts.size() < 2 || parts.size() > 3) {
      return InvalidArgument("expected tuples of a name and a type");
    }
    CAIRN_RETURN_IF_ERROR(AddField(
        record, parts[0], parts.size() == 3 ? FromArray(parts[1], parts[2]) : FromLiteral(parts[1]),
        std::nullopt));
  }
  return record;
}

absl::StatusOr<Dtype> FromDict(const Literal& dict) {
  const Literal* const names = dict.At("names");
  const Literal* const formats = dict.At("formats");
  const Literal* const offsets = dict.At("offsets");
  if (names == nullptr || formats == nullptr || names->items.size() != formats->items.size() ||
      (offsets != nullptr && offsets->items.size() != names->items.size())) {
    return InvalidArgument("expected names, formats and offsets, as many of each");
  }
  Dtype record = {.kind = Kind::kRecord};
  for (size_t i = 0; i < names->items.size(); ++i) {
    const std::optional<int64_t> offset =
        offsets == nullptr ? std::nullopt : std::optional(offsets->items[i].number);
    CAIRN_RETURN_IF_ERROR(
        AddField(record, names->items[i], FromLiteral(formats->items[i]), offset));
  }
  if (const Literal* const itemsize = dict.At("itemsize")) {
    CAIRN_RETURN_IF_ERROR(CheckTotal(itemsize->number));
    if (itemsize->number < record.size) {
      return InvalidArgument("itemsize %d, its fields take %d bytes", itemsize->number,
                             record.size);
    }
    record.size = itemsize->number;
  }
  return record;
}

absl::StatusOr<Dtype> FromLiteral(const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::kText:
      return ParseName(literal.text);
    case Literal::Kind::kList:
      return FromList(literal);
    case Literal::Kind::kDict:
      return FromDict(literal);
    case Literal::Kind::kTuple:
      if (literal.items.size() == 2) return FromArray(literal.items[0], literal.items[1]);
      break;
    case Literal::Kind::kNumber:
      break;
  }
  return InvalidArgument("expected a name, a list of fields, or a type and a shape");
}

}  // namespace

int64_t Dtype::ElementCount() const {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

absl::StatusOr<Dtype> Dtype::Parse(std::string_view text) {
  Literal literal = {.text = std::string(text)};
  if (text.starts_with('[') || text.starts_with('{') || text.starts_with('(')) {
    CAIRN_ASSIGN_OR_RETURN(literal, dtype::ParseLiteral(text));
  }
  absl::StatusOr<Dtype> type = FromLiteral(literal);
  if (!type.ok()) return Annotate(type.status(), "dtype");
  return type;
}

}  // namespace cairn
