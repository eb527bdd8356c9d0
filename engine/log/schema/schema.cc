#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "cairn/dtype.h"
#include "cairn/record.h"
#include "engine/base/status.h"

namespace cairn {

namespace {

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
    case FieldType::kText:
      return size == 4;
    case FieldType::kBytes:
      break;
  }
  return size >= 1 && size <= kMaxRecordSize;
}

absl::Status CheckFits(int64_t size) {
  if (size <= kMaxRecordSize) return absl::OkStatus();
  return InvalidArgument("record: over %d bytes", kMaxRecordSize);
}

absl::StatusOr<Field> Sized(Field field, std::string_view type) {
  if (HasSize(field.type, field.size)) return field;
  return InvalidArgument("field '%s': no type %s has %d bytes", field.name, type, field.size);
}

absl::StatusOr<FieldType> FieldTypeOf(const Dtype& type) {
  switch (type.kind) {
    case Dtype::Kind::kBool:
      return FieldType::kBool;
    case Dtype::Kind::kInt:
      return FieldType::kInt;
    case Dtype::Kind::kUint:
      return FieldType::kUint;
    case Dtype::Kind::kFloat:
      return FieldType::kFloat;
    case Dtype::Kind::kTime:
      return FieldType::kTimestamp;
    case Dtype::Kind::kBytes:
      return FieldType::kBytes;
    case Dtype::Kind::kComplex:
    case Dtype::Kind::kDuration:
    case Dtype::Kind::kText:
    case Dtype::Kind::kOpaque:
    case Dtype::Kind::kRecord:
      break;
  }
  return Unimplemented("field '%s': type %s", type.name, type.text);
}

// Returns the field of a record whose type is `type`. Its offset stays 0.
absl::StatusOr<Field> FieldOf(const Dtype& type) {
  if (type.kind == Dtype::Kind::kRecord || !type.shape.empty()) {
    return Unimplemented("field '%s': nested records and arrays in records", type.name);
  }
  CAIRN_ASSIGN_OR_RETURN(const FieldType kind, FieldTypeOf(type));
  if (type.big_endian && type.size > 1 && kind != FieldType::kBytes) {
    return Unimplemented("field '%s': type %s is big endian", type.name, type.text);
  }
  Field field = {.name = type.name, .type = kind};
  if (kind == FieldType::kTimestamp) {
    const auto found = std::ranges::find(kUnits, type.unit, &UnitName::name);
    if (found == kUnits.end()) {
      return Unimplemented("field '%s': type %s: units are s, ms, us and ns", type.name, type.text);
    }
    field.unit = found->unit;
  }
  CAIRN_RETURN_IF_ERROR(CheckFits(type.size));
  field.size = static_cast<int32_t>(type.size);
  return Sized(std::move(field), type.text);
}

std::string DtypeOf(const Field& field) {
  if (field.type == FieldType::kTimestamp) return absl::StrFormat("<M8[%s]", NameOf(field.unit));
  constexpr std::string_view kLetters = "biufMSu";
  const char letter = kLetters[static_cast<size_t>(field.type)];
  const char* const order = field.size == 1 || field.type == FieldType::kBytes ? "|" : "<";
  return absl::StrFormat("%s%c%d", order, letter, field.size);
}

absl::Status CheckName(std::string_view name) {
  if (name.empty()) return InvalidArgument("a field without a name");
  const bool plain = std::ranges::none_of(name, [](unsigned char c) { return c < ' '; });
  return plain ? absl::OkStatus() : InvalidArgument("field '%s': a control character", name);
}

// Returns a text as Python writes it.
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
  if (text.substr(colon + 1) == "text") {
    return Field{.name = std::string(name), .type = FieldType::kText, .size = 4};
  }
  absl::StatusOr<Dtype> type = Dtype::Parse(text.substr(colon + 1));
  if (!type.ok()) return Annotate(type.status(), "field '%s'", name);
  type->name = name;
  return FieldOf(*type);
}

absl::StatusOr<Schema> Schema::FromDtype(std::string_view dtype, int32_t record_size) {
  CAIRN_ASSIGN_OR_RETURN(Dtype record, Dtype::Parse(dtype));
  if (record.TotalSize() != record_size) {
    return InvalidArgument("dtype %s: describes %d bytes, an item has %d", dtype,
                           record.TotalSize(), record_size);
  }
  Schema schema;
  CAIRN_RETURN_IF_ERROR(CheckFits(record_size));
  schema.record_size_ = record_size;
  if (record.kind != Dtype::Kind::kRecord || !record.shape.empty()) {
    CAIRN_ASSIGN_OR_RETURN(const Field field, FieldOf(record));
    schema.fields_ = {field};
    return schema;
  }
  for (const Dtype& type : record.fields) {
    // Raw bytes are a gap. NumPy gives the gaps of aligned records no name, but python-blosc2 does.
    if (type.kind == Dtype::Kind::kOpaque) continue;
    CAIRN_ASSIGN_OR_RETURN(Field field, FieldOf(type));
    field.offset = static_cast<int32_t>(type.offset);
    schema.fields_.push_back(std::move(field));
  }
  CAIRN_RETURN_IF_ERROR(CheckNames(schema.fields_));
  if (schema.fields_.empty()) return Unimplemented("dtype %s: no field", dtype);
  return schema;
}

absl::StatusOr<Schema> Schema::WithTexts(const std::vector<std::string>& names) const {
  Schema schema = *this;
  for (const std::string& name : names) {
    const auto field = std::ranges::find(schema.fields_, name, &Field::name);
    if (field == schema.fields_.end()) return InvalidArgument("no field '%s'", name);
    if (field->type == FieldType::kText) continue;
    if (field->type != FieldType::kUint || field->size != 4) {
      return InvalidArgument("field '%s': expected the type u4 for the codes of texts", name);
    }
    field->type = FieldType::kText;
  }
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
