#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "cairn/record.h"
#include "engine/base/status.h"
#include "engine/log/schema/literal.h"

namespace cairn {

namespace {

using log::Literal;

constexpr int32_t kMaxRecordSize = 65'535;

struct UnitName {
  TimeUnit unit;
  std::string_view name;
};
constexpr std::array<UnitName, 4> kUnits = {{{TimeUnit::kSeconds, "s"},
                                             {TimeUnit::kMilliseconds, "ms"},
                                             {TimeUnit::kMicroseconds, "us"},
                                             {TimeUnit::kNanoseconds, "ns"}}};

std::string_view NameOf(TimeUnit unit) {
  return std::ranges::find(kUnits, unit, &UnitName::unit)->name;
}

// NumPy's letter of a type.
struct TypeLetter {
  FieldType type;
  char letter;
  std::string_view long_name;  // before the number of bits; of kBytes, of bytes
};
constexpr std::array<TypeLetter, 6> kTypes = {{{FieldType::kBool, 'b', "bool"},
                                               {FieldType::kInt, 'i', "int"},
                                               {FieldType::kUint, 'u', "uint"},
                                               {FieldType::kFloat, 'f', "float"},
                                               {FieldType::kTimestamp, 'M', "datetime64"},
                                               {FieldType::kBytes, 'S', "bytes"}}};

bool HasSize(FieldType type, int32_t size) {
  switch (type) {
    case FieldType::kBool:
      return size == 1;
    case FieldType::kInt:
    case FieldType::kUint:
      return size == 1 || size == 2 || size == 4 || size == 8;
    case FieldType::kFloat:
      return size == 2 || size == 4 || size == 8;
    case FieldType::kTimestamp:
      return size == 8;
    case FieldType::kBytes:
      break;
  }
  return size >= 1 && size <= kMaxRecordSize;
}

std::optional<int32_t> ParseSize(std::string_view text) {
  int32_t size = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, size);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return size;
}

// What stands in brackets at the end of `text`, which loses it.
std::optional<std::string_view> TakeBrackets(std::string_view& text) {
  const size_t open = text.find('[');
  if (open == std::string_view::npos || !text.ends_with(']')) return std::nullopt;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  text = text.substr(0, open);
  return inside;
}

absl::StatusOr<Field> Sized(Field field, std::string_view type) {
  if (HasSize(field.type, field.size)) return field;
  return InvalidArgument("field '%s': no type %s has %d bytes", field.name, type, field.size);
}

absl::StatusOr<Field> TimestampField(std::string name, std::string_view type,
                                     std::string_view unit) {
  const auto found = std::ranges::find(kUnits, unit, &UnitName::name);
  if (found == kUnits.end()) {
    return Unimplemented("field '%s': type %s: units are s, ms, us and ns", name, type);
  }
  return Field{.name = std::move(name), .type = FieldType::kTimestamp, .unit = found->unit};
}

// A type as NumPy and people write it.
absl::StatusOr<Field> ParseType(std::string name, const std::string_view type) {
  std::string_view rest = type;
  if (rest.starts_with('>')) {
    return Unimplemented("field '%s': type %s is big endian", name, type);
  }
  if (rest.starts_with('<') || rest.starts_with('|') || rest.starts_with('=')) {
    rest.remove_prefix(1);
  }
  const std::optional<std::string_view> brackets = TakeBrackets(rest);
  if (rest == "M8" || rest == "datetime64" || rest == "timestamp") {
    return TimestampField(std::move(name), type, brackets.value_or(""));
  }
  if (rest == "?" || rest == "bool") rest = "b1";
  if (rest == "bytes" && brackets.has_value()) {
    const std::optional<int32_t> size = ParseSize(*brackets);
    return Sized({.name = std::move(name), .type = FieldType::kBytes, .size = size.value_or(0)},
                 type);
  }
  if (!brackets.has_value()) {
    for (const TypeLetter& known : kTypes) {
      const bool is_long = rest.starts_with(known.long_name);
      if (known.type == FieldType::kTimestamp || (!is_long && !rest.starts_with(known.letter))) {
        continue;
      }
      const auto size = ParseSize(rest.substr(is_long ? known.long_name.size() : 1));
      if (!size.has_value()) continue;
      const bool bits = is_long && known.type != FieldType::kBytes;
      if (bits && *size % 8 != 0) continue;
      return Sized({.name = std::move(name), .type = known.type, .size = bits ? *size / 8 : *size},
                   type);
    }
  }
  return Unimplemented("field '%s': type %s", name, type);
}

std::string DtypeOf(const Field& field) {
  if (field.type == FieldType::kTimestamp) return absl::StrFormat("<M8[%s]", NameOf(field.unit));
  const char letter = std::ranges::find(kTypes, field.type, &TypeLetter::type)->letter;
  const char* const order = field.size == 1 || field.type == FieldType::kBytes ? "|" : "<";
  return absl::StrFormat("%s%c%d", order, letter, field.size);
}

absl::Status CheckName(std::string_view name) {
  if (name.empty()) return InvalidArgument("a field without a name");
  const bool plain = std::ranges::none_of(name, [](unsigned char c) { return c < ' '; });
  return plain ? absl::OkStatus() : InvalidArgument("field '%s': a control character", name);
}

// A text as Python writes it.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return quoted + "'";
}

absl::Status CheckNames(const std::vector<Field>& fields) {
  absl::flat_hash_set<std::string_view> names;
  for (const Field& field : fields) {
    CAIRN_RETURN_IF_ERROR(CheckName(field.name));
    if (!names.insert(field.name).second) {
      return InvalidArgument("field '%s': is there twice", field.name);
    }
  }
  return absl::OkStatus();
}

// Fields as a dtype lists them, and how many bytes they take.
struct FieldList {
  std::vector<Field> fields;
  int32_t size = 0;
};

absl::Status CheckFits(int64_t size) {
  if (size <= kMaxRecordSize) return absl::OkStatus();
  return InvalidArgument("record: over %d bytes", kMaxRecordSize);
}

// A field that only fills: "|V4". python-blosc2 gives those of aligned records names.
std::optional<int32_t> SizeOfGap(std::string_view type) {
  if (!type.starts_with("|V") && !type.starts_with('V')) return std::nullopt;
  return ParseSize(type.substr(type.find('V') + 1));
}

absl::StatusOr<FieldList> FieldsOfTuples(const Literal& list) {
  FieldList found;
  for (const Literal& item : list.items) {
    const std::vector<Literal>& parts = item.items;
    if (item.kind != Literal::Kind::kTuple || parts.size() < 2 || parts.size() > 3) {
      return InvalidArgument("dtype: expected tuples of a name and a type");
    }
    const bool plain = parts.size() == 2 && parts[0].kind == Literal::Kind::kText &&
                       parts[1].kind == Literal::Kind::kText;
    if (!plain) return Unimplemented("dtype: nested records, arrays in records and titles");
    const std::optional<int32_t> gap = SizeOfGap(parts[1].text);
    int64_t size = 0;
    if (gap.has_value()) {
      size = *gap;
    } else {
      CAIRN_ASSIGN_OR_RETURN(Field field, ParseType(parts[0].text, parts[1].text));
      field.offset = found.size;
      size = field.size;
      found.fields.push_back(std::move(field));
    }
    if (size < 0) return InvalidArgument("dtype: a gap of %d bytes", size);
    CAIRN_RETURN_IF_ERROR(CheckFits(found.size + size));
    found.size += static_cast<int32_t>(size);
  }
  return found;
}

absl::StatusOr<FieldList> FieldsOfDict(const Literal& dict) {
  const Literal* const names = dict.At("names");
  const Literal* const formats = dict.At("formats");
  const Literal* const offsets = dict.At("offsets");
  const Literal* const itemsize = dict.At("itemsize");
  if (names == nullptr || formats == nullptr || names->items.size() != formats->items.size() ||
      (offsets != nullptr && offsets->items.size() != names->items.size())) {
    return InvalidArgument("dtype: expected names, formats and offsets, as many of each");
  }
  FieldList found;
  for (size_t i = 0; i < names->items.size(); ++i) {
    const Literal& name = names->items[i];
    const Literal& format = formats->items[i];
    if (name.kind != Literal::Kind::kText || format.kind != Literal::Kind::kText) {
      return Unimplemented("dtype: nested records and arrays in records");
    }
    CAIRN_ASSIGN_OR_RETURN(Field field, ParseType(name.text, format.text));
    const int64_t offset = offsets == nullptr ? found.size : offsets->items[i].number;
    if (offset < 0 || offset > kMaxRecordSize) {
      return InvalidArgument("field '%s': begins at byte %d", field.name, offset);
    }
    CAIRN_RETURN_IF_ERROR(CheckFits(offset + field.size));
    field.offset = static_cast<int32_t>(offset);
    found.size = std::max(found.size, field.offset + field.size);
    found.fields.push_back(std::move(field));
  }
  if (itemsize == nullptr) return found;
  if (itemsize->number < found.size) {
    return InvalidArgument("dtype: itemsize %d, its fields take %d bytes", itemsize->number,
                           found.size);
  }
  CAIRN_RETURN_IF_ERROR(CheckFits(itemsize->number));
  found.size = static_cast<int32_t>(itemsize->number);
  return found;
}

absl::StatusOr<FieldList> FieldsOfDtype(std::string_view dtype) {
  if (dtype.starts_with('[') || dtype.starts_with('{')) {
    CAIRN_ASSIGN_OR_RETURN(const Literal literal, log::ParseLiteral(dtype));
    CAIRN_ASSIGN_OR_RETURN(FieldList found, literal.kind == Literal::Kind::kList
                                                ? FieldsOfTuples(literal)
                                                : FieldsOfDict(literal));
    CAIRN_RETURN_IF_ERROR(CheckNames(found.fields));
    if (found.fields.empty()) return Unimplemented("dtype %s: no field", dtype);
    return found;
  }
  CAIRN_ASSIGN_OR_RETURN(Field field, ParseType("", dtype));
  const int32_t size = field.size;
  return FieldList{.fields = {std::move(field)}, .size = size};
}

}  // namespace

absl::Status CheckPaddedText(std::string_view text) {
  if (!text.ends_with('\0')) return absl::OkStatus();
  return InvalidArgument("a text that ends with a zero, which a field of fixed width would lose");
}

absl::StatusOr<Schema> Schema::Make(std::vector<Field> fields) {
  CAIRN_RETURN_IF_ERROR(CheckNames(fields));
  Schema schema;
  for (Field& field : fields) {
    CAIRN_ASSIGN_OR_RETURN(field, Sized(std::move(field), "of that kind"));
    CAIRN_RETURN_IF_ERROR(CheckFits(int64_t{schema.record_size_} + field.size));
    field.offset = schema.record_size_;
    schema.record_size_ += field.size;
  }
  schema.fields_ = std::move(fields);
  return schema;
}

absl::StatusOr<Field> Schema::ParseField(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return InvalidArgument("field '%s': expected NAME:TYPE, such as temp:f4", text);
  }
  const std::string_view name = text.substr(0, colon);
  CAIRN_RETURN_IF_ERROR(CheckName(name));
  return ParseType(std::string(name), text.substr(colon + 1));
}

absl::StatusOr<Schema> Schema::FromDtype(std::string_view dtype, int32_t record_size) {
  CAIRN_ASSIGN_OR_RETURN(FieldList found, FieldsOfDtype(dtype));
  if (found.size != record_size) {
    return InvalidArgument("dtype %s: describes %d bytes, an item has %d", dtype, found.size,
                           record_size);
  }
  Schema schema;
  schema.fields_ = std::move(found.fields);
  schema.record_size_ = found.size;
  return schema;
}

std::string Schema::ToDtype() const {
  if (fields_.size() == 1 && fields_[0].name.empty()) return DtypeOf(fields_[0]);
  int32_t end = 0;
  bool has_gaps = false;
  for (const Field& field : fields_) {
    has_gaps = has_gaps || field.offset != end;
    end = field.offset + field.size;
  }
  has_gaps = has_gaps || end != record_size_;
  std::vector<std::string> tuples;
  std::vector<std::string> names;
  std::vector<std::string> formats;
  std::vector<int32_t> offsets;
  for (const Field& field : fields_) {
    names.push_back(Quoted(field.name));
    formats.push_back(Quoted(DtypeOf(field)));
    offsets.push_back(field.offset);
    tuples.push_back(absl::StrFormat("(%s, %s)", names.back(), formats.back()));
  }
  if (!has_gaps) return absl::StrFormat("[%s]", absl::StrJoin(tuples, ", "));
  return absl::StrFormat("{'names': [%s], 'formats': [%s], 'offsets': [%s], 'itemsize': %d}",
                         absl::StrJoin(names, ", "), absl::StrJoin(formats, ", "),
                         absl::StrJoin(offsets, ", "), record_size_);
}

const Field* Schema::Find(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &Field::name);
  return found == fields_.end() ? nullptr : &*found;
}

}  // namespace cairn
