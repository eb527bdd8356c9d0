#include "tools/dtypes/dtype.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

#include "cairn/dtype.h"
#include "tools/dtypes/utf8.h"
#include "tools/status.h"

namespace cairn::dtypes {

namespace {

constexpr int64_t kMaxColumns = 1'900;  // SQLite takes 2,000
constexpr int64_t kMaxElements = 64;    // elements of an array in a record that become columns

// The columns of a type by itself, and the bytes that it takes.
struct FieldLayout {
  std::vector<Column> columns;
  int64_t size = 0;
};

FieldLayout OneColumn(std::string_view name, const Dtype& type, ColumnType kind) {
  return {.columns = {{.name = std::string(name),
                       .type = kind,
                       .size = static_cast<int32_t>(type.TotalSize()),
                       .big_endian = type.big_endian}},
          .size = type.TotalSize()};
}

FieldLayout ColumnsOfComplex(std::string_view name, const Dtype& type) {
  Dtype half = type;
  half.size /= 2;
  FieldLayout both = OneColumn(absl::StrFormat("%s_re", name), half, ColumnType::kFloat);
  both.columns.push_back(both.columns[0]);
  both.columns[1].name = absl::StrFormat("%s_im", name);
  both.columns[1].offset = both.columns[0].size;
  both.size = type.size;
  return both;
}

FieldLayout ColumnOfTime(std::string_view name, const Dtype& type) {
  FieldLayout time = OneColumn(name, type, ColumnType::kTime);
  time.columns[0].unit = type.unit;
  time.columns[0].is_duration = type.kind == Dtype::Kind::kDuration;
  return time;
}

absl::Status AddColumns(FieldLayout& to, const FieldLayout& more, int64_t offset) {
  if (to.columns.size() + more.columns.size() > static_cast<size_t>(kMaxColumns)) {
    return absl::InvalidArgumentError(absl::StrFormat("dtype: over %d columns", kMaxColumns));
  }
  for (const Column& column : more.columns) {
    to.columns.push_back(column);
    to.columns.back().offset += static_cast<int32_t>(offset);
  }
  to.size = std::max(to.size, offset + more.size);
  return absl::OkStatus();
}

absl::StatusOr<FieldLayout> LayoutOf(std::string_view name, const Dtype& type);

// Lays out an array in a record. Each element is a column if there are few.
absl::StatusOr<FieldLayout> LayoutOfArray(std::string_view name, const Dtype& type) {
  const int64_t count = type.ElementCount();
  if (count > kMaxElements) {
    FieldLayout blob = OneColumn(name, type, ColumnType::kBlob);
    blob.columns[0].big_endian = false;
    return blob;
  }
  Dtype single = type;
  single.shape.clear();
  ASSIGN_OR_RETURN(const FieldLayout element, LayoutOf("", single));
  FieldLayout all = {.columns = {}, .size = type.TotalSize()};
  for (int64_t i = 0; i < count; ++i) {
    std::string indices;
    int64_t rest = i;
    for (size_t axis = type.shape.size(); axis-- > 0;) {
      indices = absl::StrFormat("_%d%s", rest % type.shape[axis], indices);
      rest /= type.shape[axis];
    }
    FieldLayout named = element;
    for (Column& column : named.columns)
      column.name = absl::StrFormat("%s%s%s", name, indices, column.name);
    RETURN_IF_ERROR(AddColumns(all, named, i * element.size));
  }
  return all;
}

absl::StatusOr<FieldLayout> LayoutOfRecord(std::string_view name, const Dtype& record) {
  FieldLayout all;
  for (const Dtype& field : record.fields) {
    // Raw bytes without a name are a gap.
    if (field.name.empty() && field.kind == Dtype::Kind::kOpaque) continue;
    const std::string joined =
        name.empty() ? field.name : absl::StrFormat("%s_%s", name, field.name);
    ASSIGN_OR_RETURN(const FieldLayout one, LayoutOf(joined, field));
    RETURN_IF_ERROR(AddColumns(all, one, field.offset));
  }
  all.size = record.size;
  return all;
}

absl::StatusOr<FieldLayout> LayoutOf(std::string_view name, const Dtype& type) {
  if (!type.shape.empty()) return LayoutOfArray(name, type);
  switch (type.kind) {
    case Dtype::Kind::kBool:
      return OneColumn(name, type, ColumnType::kBool);
    case Dtype::Kind::kInt:
      return OneColumn(name, type, ColumnType::kInt);
    case Dtype::Kind::kUint:
      return OneColumn(name, type, ColumnType::kUint);
    case Dtype::Kind::kFloat:  // a long double is a blob
      return OneColumn(name, type, type.size > 8 ? ColumnType::kBlob : ColumnType::kFloat);
    case Dtype::Kind::kComplex:
      if (type.size > 16) return OneColumn(name, type, ColumnType::kBlob);
      return ColumnsOfComplex(name, type);
    case Dtype::Kind::kTime:
    case Dtype::Kind::kDuration:
      return ColumnOfTime(name, type);
    case Dtype::Kind::kBytes:
      return OneColumn(name, type, ColumnType::kText);
    case Dtype::Kind::kText:
      return OneColumn(name, type, ColumnType::kUcs4);
    case Dtype::Kind::kOpaque:
      return OneColumn(name, type, ColumnType::kBlob);
    case Dtype::Kind::kRecord:
      break;
  }
  return LayoutOfRecord(name, type);
}

absl::Status OtherSize(int64_t size, int32_t item_size) {
  return absl::InvalidArgumentError(
      absl::StrFormat("dtype: describes %d bytes, an item has %d", size, item_size));
}

absl::StatusOr<std::vector<Column>> Checked(FieldLayout layout, int32_t item_size,
                                            std::string_view item_name) {
  if (layout.size != item_size) return OtherSize(layout.size, item_size);
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
  ASSIGN_OR_RETURN(const Dtype type, Dtype::Parse(dtype));
  ASSIGN_OR_RETURN(FieldLayout layout, LayoutOf("", type));
  // This is a complex number, or an array, by itself.
  const bool has_fields = type.kind == Dtype::Kind::kRecord && type.shape.empty();
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
    ASSIGN_OR_RETURN(const Dtype type, Dtype::Parse(one.type));
    ASSIGN_OR_RETURN(const FieldLayout layout, LayoutOf(one.name, type));
    if (all.size + layout.size > item_size) return OtherSize(all.size + layout.size, item_size);
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
