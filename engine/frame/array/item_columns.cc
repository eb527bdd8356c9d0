#include "engine/frame/array/item_columns.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "cairn/dtype.h"
#include "engine/frame/array/array_geometry.h"

namespace cairn::frame {

namespace {

// Arrays of at most this many elements, such as coordinates, have a column for each. The elements
// of longer ones, such as spectra, are neighbours in one column.
constexpr int64_t kMaxApart = 8;
// Each column costs some bytes of each block. Numbers after so many columns are coded as bytes.
constexpr size_t kMaxColumns = 512;

struct PlacedColumn {
  int64_t offset = 0;
  ItemColumn column;
};

// Returns the parameter of the codec for a number of this type: 0 if it is none.
uint8_t KindOf(const Dtype& type) {
  if (type.big_endian && type.size > 1) return 0;
  switch (type.kind) {
    case Dtype::Kind::kBool:
    case Dtype::Kind::kUint:
      return 1;
    case Dtype::Kind::kInt:
    case Dtype::Kind::kTime:
    case Dtype::Kind::kDuration:
      return 2;
    case Dtype::Kind::kFloat:
    case Dtype::Kind::kComplex:
      return 3;
    default:
      return 0;
  }
}

void AddNumbers(uint8_t kind, int64_t size, int64_t count, int64_t offset,
                std::vector<PlacedColumn>& columns) {
  const int64_t step = count > kMaxApart ? count : 1;
  for (int64_t i = 0; i < count && columns.size() < kMaxColumns; i += step) {
    columns.push_back({.offset = offset + i * size,
                       .column = {.kind = kind,
                                  .size = static_cast<int32_t>(size),
                                  .count = static_cast<int32_t>(step)}});
  }
}

// Adds the numbers of a type that begins at byte `offset`.
void AddColumns(const Dtype& type, int64_t offset, std::vector<PlacedColumn>& columns) {
  const int64_t count = type.ElementCount();
  if (type.kind == Dtype::Kind::kRecord) {
    for (int64_t i = 0; count <= kMaxApart && i < count; ++i) {
      for (const Dtype& field : type.fields) {
        if (columns.size() == kMaxColumns) return;
        AddColumns(field, offset + i * type.size + field.offset, columns);
      }
    }
    return;
  }
  const uint8_t kind = KindOf(type);
  const bool is_pair = type.kind == Dtype::Kind::kComplex;
  const int64_t size = is_pair ? type.size / 2 : type.size;
  if (kind != 0 && size <= 8) AddNumbers(kind, size, is_pair ? 2 * count : count, offset, columns);
}

// Puts bytes where no numbers are. Returns nothing if numbers overlap.
std::optional<std::vector<ItemColumn>> FillGaps(std::vector<PlacedColumn> placed, int64_t size) {
  std::ranges::sort(placed, {}, &PlacedColumn::offset);
  std::vector<ItemColumn> columns;
  int64_t end = 0;
  const auto fill_to = [&](int64_t offset) {
    if (offset > end) columns.push_back({.kind = 0, .count = static_cast<int32_t>(offset - end)});
  };
  for (const PlacedColumn& next : placed) {
    if (next.offset < end) return std::nullopt;
    fill_to(next.offset);
    columns.push_back(next.column);
    end = next.offset + int64_t{next.column.size} * next.column.count;
  }
  if (end > size) return std::nullopt;
  fill_to(size);
  return columns;
}

}  // namespace

void SetColumns(const ArrayInfo& array, CompressionOptions& compression) {
  if (!CodesNumbers(compression.codec)) return;
  compression.columns.clear();
  if (array.dtype_format != kNumPyDtype) return;
  const absl::StatusOr<Dtype> dtype = Dtype::Parse(array.dtype);
  if (!dtype.ok() || dtype->TotalSize() != compression.typesize) return;
  std::vector<PlacedColumn> placed;
  AddColumns(*dtype, 0, placed);
  if (placed.empty()) return;
  const auto columns = FillGaps(std::move(placed), compression.typesize);
  if (!columns) return;
  if (columns->size() == 1 && columns->front().count == 1) {
    if (compression.codec_meta == 0) compression.codec_meta = columns->front().kind;
  } else {
    compression.columns = *columns;
  }
}

}  // namespace cairn::frame
