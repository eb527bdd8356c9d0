#include "tools/dtypes/dtype.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

#include "tools/dtypes/literal.h"
#include "tools/dtypes/utf8.h"
#include "tools/status.h"

namespace cairn::dtypes {

namespace {

constexpr int64_t kMaxColumns = 1'900;  // SQLite takes 2,000
constexpr int64_t kMaxElements = 64;    // of an array in a record that become columns
constexpr int64_t kMaxTypeSize = 1 << 30;

// Columns of a type by itself, and the bytes that it takes.
struct FieldLayout {
  std::vector<Column> columns;
  int64_t size = 0;
};

absl::Status Unreadable(std::string_view name, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrFormat("dtype: field '%s': %s", name, why));
}

absl::Status CheckSize(std::string_view name, int64_t size) {
  if (size >= 0 && size <= kMaxTypeSize) return absl::OkStatus();
  return Unreadable(name, absl::StrFormat("%d bytes", size));
}

std::optional<int64_t> ParseInt(std::string_view text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

struct LongName {
  std::string_view name;  // without the number of bits
  char letter;
};
constexpr std::array<LongName, 6> kLongNames = {
    {{"int", 'i'}, {"uint", 'u'}, {"float", 'f'}, {"complex", 'c'}, {"bool", '?'}, {"bytes", 'S'}}};

// NumPy's letter for a long name such as "float64", and its bytes.
std::optional<std::pair<char, int64_t>> FindLongName(std::string_view type) {
  const size_t digits = type.find_first_of("0123456789");
  const std::string_view name = type.substr(0, digits);
  const auto found = std::ranges::find(kLongNames, name, &LongName::name);
  if (found == kLongNames.end()) return std::nullopt;
  if (found->letter == '?') return std::pair('?', int64_t{1});
  const auto number =
      digits == std::string_view::npos ? std::nullopt : ParseInt(type.substr(digits));
  if (!number.has_value()) return std::nullopt;
  return std::pair(found->letter, found->letter == 'S' ? *number : *number / 8);
}

FieldLayout OneColumn(std::string_view name, ColumnType type, int64_t size, bool big_endian) {
  return {.columns = {{.name = std::string(name),
                       .type = type,
                       .size = static_cast<int32_t>(size),
                       .big_endian = big_endian}},
          .size = size};
}

bool IsOneOf(int64_t size, std::initializer_list<int64_t> sizes) {
  return std::ranges::find(sizes, size) != sizes.end();
}

absl::StatusOr<FieldLayout> LayoutOfText(std::string_view name, std::string_view type) {
  std::string_view rest = type;
  const bool big = rest.starts_with('>');
  if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
    rest.remove_prefix(1);
  }
  const size_t bracket = rest.find('[');
  std::string_view unit;
  if (bracket != std::string_view::npos && rest.ends_with(']')) {
    unit = rest.substr(bracket + 1, rest.size() - bracket - 2);
    rest = rest.substr(0, bracket);
  }
  if (rest == "datetime64" || rest == "timedelta64") rest = rest[0] == 'd' ? "M8" : "m8";
  char letter = rest.empty() ? '\0' : rest[0];
  int64_t size = 0;
  if (const auto found = FindLongName(rest); found.has_value()) {
    std::tie(letter, size) = *found;
  } else if (rest == "?") {
    size = 1;
  } else if (const auto number = ParseInt(rest.substr(std::min<size_t>(1, rest.size())))) {
    size = *number;
  } else {
    return Unreadable(name, absl::StrFormat("type %s", type));
  }
  if (letter == 'U') size = size > kMaxTypeSize ? -1 : 4 * size;
  RETURN_IF_ERROR(CheckSize(name, size));
  switch (letter) {
    case 'b':
    case '?':
      if (size == 1) return OneColumn(name, ColumnType::kBool, 1, big);
      break;
    case 'i':
    case 'u':
      if (!IsOneOf(size, {1, 2, 4, 8})) break;
      return OneColumn(name, letter == 'i' ? ColumnType::kInt : ColumnType::kUint, size, big);
    case 'f':
      if (IsOneOf(size, {2, 4, 8})) return OneColumn(name, ColumnType::kFloat, size, big);
      if (IsOneOf(size, {12, 16})) return OneColumn(name, ColumnType::kBlob, size, big);
      break;
    case 'c': {
      if (IsOneOf(size, {24, 32})) return OneColumn(name, ColumnType::kBlob, size, big);
      if (!IsOneOf(size, {8, 16})) break;
      FieldLayout both =
          OneColumn(absl::StrFormat("%s_re", name), ColumnType::kFloat, size / 2, big);
      both.columns.push_back(both.columns[0]);
      both.columns[1].name = absl::StrFormat("%s_im", name);
      both.columns[1].offset = both.columns[0].size;
      both.size = size;
      return both;
    }
    case 'M':
    case 'm':
      if (size == 8) {
        FieldLayout time = OneColumn(name, ColumnType::kTime, size, big);
        time.columns[0].unit = unit;
        time.columns[0].is_duration = letter == 'm';
        return time;
      }
      break;
    case 'S':
    case 'a':
      return OneColumn(name, ColumnType::kText, size, big);
    case 'U':
      return OneColumn(name, ColumnType::kUcs4, size, big);
    case 'V':
    case 'O':
      return OneColumn(name, ColumnType::kBlob, size, big);
    default:
      break;
  }
  return Unreadable(name, absl::StrFormat("type %s", type));
}

absl::Status AddColumns(FieldLayout& to, const FieldLayout& more, int64_t offset) {
  RETURN_IF_ERROR(CheckSize("", offset + more.size));
  if (to.columns.size() + more.columns.size() > static_cast<size_t>(kMaxColumns)) {
    return Unreadable("", absl::StrFormat("over %d columns", kMaxColumns));
  }
  for (const Column& column : more.columns) {
    to.columns.push_back(column);
    to.columns.back().offset += static_cast<int32_t>(offset);
  }
  to.size = std::max(to.size, offset + more.size);
  return absl::OkStatus();
}

absl::StatusOr<FieldLayout> LayoutOf(std::string_view name, const Literal& type);

// An array in a record: elements of a type, and a shape.
absl::StatusOr<FieldLayout> LayoutOfArray(std::string_view name, const Literal& type,
                                          const Literal& shape) {
  std::vector<int64_t> extents;
  if (shape.kind == Literal::Kind::kNumber) extents.push_back(shape.number);
  for (const Literal& extent : shape.items) extents.push_back(extent.number);
  ASSIGN_OR_RETURN(const FieldLayout element, LayoutOf("", type));
  int64_t count = 1;
  for (const int64_t extent : extents) {
    RETURN_IF_ERROR(CheckSize(name, extent));
    count *= extent;
    RETURN_IF_ERROR(CheckSize(name, count));
  }
  RETURN_IF_ERROR(CheckSize(name, element.size == 0 ? 0 : count));
  if (element.size > 0 && count > kMaxTypeSize / element.size) return CheckSize(name, -1);
  if (count > kMaxElements) return OneColumn(name, ColumnType::kBlob, count * element.size, false);
  FieldLayout all = {.columns = {}, .size = count * element.size};
  for (int64_t i = 0; i < count; ++i) {
    std::string indices;
    int64_t rest = i;
    for (size_t axis = extents.size(); axis-- > 0;) {
      indices = absl::StrFormat("_%d%s", rest % extents[axis], indices);
      rest /= extents[axis];
    }
    FieldLayout named = element;
    for (Column& column : named.columns)
      column.name = absl::StrFormat("%s%s%s", name, indices, column.name);
    RETURN_IF_ERROR(AddColumns(all, named, i * element.size));
  }
  return all;
}

std::string Joined(std::string_view outer, std::string_view inner) {
  return outer.empty() ? std::string(inner) : absl::StrFormat("%s_%s", outer, inner);
}

// A field's name, or of a title and a name the latter.
std::string NameOfField(const Literal& name) {
  return name.items.empty() ? name.text : name.items.back().text;
}

bool IsGap(std::string_view name, const Literal& type) {
  return name.empty() && type.kind == Literal::Kind::kText &&
         type.text.find('V') != std::string::npos;
}

absl::StatusOr<FieldLayout> LayoutOfList(std::string_view name, const Literal& list) {
  FieldLayout all;
  for (const Literal& item : list.items) {
    if (item.kind != Literal::Kind::kTuple || item.items.size() < 2 || item.items.size() > 3) {
      return Unreadable(name, "expected tuples of a name and a type");
    }
    const std::string own = NameOfField(item.items[0]);
    const std::string field = Joined(name, own);
    ASSIGN_OR_RETURN(FieldLayout one, item.items.size() == 3
                                          ? LayoutOfArray(field, item.items[1], item.items[2])
                                          : LayoutOf(field, item.items[1]));
    if (IsGap(own, item.items[1])) one.columns.clear();
    RETURN_IF_ERROR(AddColumns(all, one, all.size));
  }
  return all;
}

absl::StatusOr<FieldLayout> LayoutOfDict(std::string_view name, const Literal& dict) {
  const Literal* const names = dict.At("names");
  const Literal* const formats = dict.At("formats");
  const Literal* const offsets = dict.At("offsets");
  if (names == nullptr || formats == nullptr || names->items.size() != formats->items.size() ||
      (offsets != nullptr && offsets->items.size() != names->items.size())) {
    return Unreadable(name, "expected names, formats and offsets, as many of each");
  }
  FieldLayout all;
  for (size_t i = 0; i < names->items.size(); ++i) {
    const std::string field = Joined(name, NameOfField(names->items[i]));
    ASSIGN_OR_RETURN(const FieldLayout one, LayoutOf(field, formats->items[i]));
    const int64_t offset = offsets == nullptr ? all.size : offsets->items[i].number;
    RETURN_IF_ERROR(CheckSize(field, offset));
    RETURN_IF_ERROR(AddColumns(all, one, offset));
  }
  if (const Literal* const itemsize = dict.At("itemsize")) {
    RETURN_IF_ERROR(CheckSize(name, itemsize->number));
    if (itemsize->number < all.size) return Unreadable(name, "itemsize is less than its fields");
    all.size = itemsize->number;
  }
  return all;
}

absl::StatusOr<FieldLayout> LayoutOf(std::string_view name, const Literal& type) {
  switch (type.kind) {
    case Literal::Kind::kText:
      return LayoutOfText(name, type.text);
    case Literal::Kind::kList:
      return LayoutOfList(name, type);
    case Literal::Kind::kDict:
      return LayoutOfDict(name, type);
    case Literal::Kind::kTuple:
      if (type.items.size() == 2) return LayoutOfArray(name, type.items[0], type.items[1]);
      break;
    case Literal::Kind::kNumber:
      break;
  }
  return Unreadable(name, "no type");
}

absl::StatusOr<std::vector<Column>> Checked(FieldLayout layout, int32_t item_size,
                                            std::string_view item_name) {
  if (layout.size != item_size) {
    return absl::InvalidArgumentError(
        absl::StrFormat("dtype: describes %d bytes, an item has %d", layout.size, item_size));
  }
  for (Column& column : layout.columns) {
    column.name = column.name.empty() ? std::string(item_name) : ToUtf8(column.name);
    if (column.name.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError("dtype: a zero in the name of a field");
    }
  }
  MakeNamesUnique(layout.columns);
  return std::move(layout.columns);
}

}  // namespace

absl::StatusOr<std::vector<Column>> ColumnsOfDtype(std::string_view dtype, int32_t item_size,
                                                   std::string_view item_name) {
  const bool is_literal =
      dtype.starts_with('[') || dtype.starts_with('{') || dtype.starts_with('(');
  Literal literal = {.text = std::string(dtype)};
  if (is_literal) {
    ASSIGN_OR_RETURN(literal, ParseLiteral(dtype));
  }
  ASSIGN_OR_RETURN(FieldLayout layout, LayoutOf("", literal));
  // A complex number, or an array, by itself.
  const bool has_fields = dtype.starts_with('[') || dtype.starts_with('{');
  for (Column& column : layout.columns) {
    if (!has_fields && !column.name.empty())
      column.name = absl::StrFormat("%s%s", item_name, column.name);
  }
  return Checked(std::move(layout), item_size, item_name);
}

absl::StatusOr<std::vector<Column>> ColumnsOfDeclarations(std::span<const Declaration> declared,
                                                          int32_t item_size) {
  FieldLayout all;
  for (const Declaration& one : declared) {
    ASSIGN_OR_RETURN(const FieldLayout layout, LayoutOfText(one.name, one.type));
    RETURN_IF_ERROR(AddColumns(all, layout, all.size));
  }
  return Checked(std::move(all), item_size, kItemColumn);
}

void MakeNamesUnique(std::vector<Column>& columns) {
  std::set<std::string> taken;
  for (Column& column : columns) {
    const std::string name = column.name;
    for (int i = 2; !taken.insert(absl::AsciiStrToLower(column.name)).second; ++i) {
      column.name = absl::StrFormat("%s_%d", name, i);
    }
  }
}

}  // namespace cairn::dtypes
