#include "tools/cairn/commands/cat_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "tools/cairn/flags/box.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/records/row_writer.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/text/exit.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

// Returns the shape of an array. Without one, the items count as one dimension.
std::vector<int64_t> ShapeOf(const Snapshot& snapshot) {
  return snapshot.array() ? snapshot.array()->shape : std::vector{snapshot.info().nitems};
}

// Returns the items without a box, by number.
absl::StatusOr<Box> ItemsOf(const RowSelection& selection, int64_t nitems) {
  const int64_t left = nitems - std::min(selection.first_item, nitems);
  if (selection.first_item > nitems || selection.items.value_or(left) > left) {
    return absl::OutOfRangeError(absl::StrFormat("%d items from item %d: the frame has %d",
                                                 selection.items.value_or(left),
                                                 selection.first_item, nitems));
  }
  return Box{.start = {selection.first_item}, .shape = {selection.items.value_or(left)}};
}

// Returns, for each dimension, the indices of items in C order, of a box that begins with `index`.
std::vector<std::vector<int64_t>> IndicesOf(const Box& box, std::vector<int64_t> index,
                                            size_t count) {
  std::vector<std::vector<int64_t>> indices(box.shape.size(), std::vector<int64_t>(count));
  for (size_t item = 0; item < count; ++item) {
    for (size_t i = 0; i < index.size(); ++i) indices[i][item] = index[i];
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < box.start[i] + box.shape[i]) break;
      index[i] = box.start[i];
    }
  }
  return indices;
}

// Returns the indices of items of the whole array, by number.
std::vector<std::vector<int64_t>> IndicesOf(const std::vector<int64_t>& shape, int64_t first,
                                            size_t count) {
  // An array without items has an extent of 0, which cannot be a divisor.
  if (count == 0) return std::vector<std::vector<int64_t>>(shape.size());
  std::vector<int64_t> index(shape.size());
  for (size_t i = shape.size(); i-- > 0; first /= shape[i]) index[i] = first % shape[i];
  return IndicesOf({.start = std::vector<int64_t>(shape.size()), .shape = shape}, index, count);
}

}  // namespace

absl::StatusOr<ItemColumns> ItemColumnsOf(const Snapshot& snapshot, const std::string& dtype) {
  const std::optional<ArrayInfo> array = snapshot.array();
  const std::string& type = dtype.empty() && array ? array->dtype : dtype;
  if (!type.empty()) return ItemColumns::Make(type, snapshot.info().typesize);
  return absl::FailedPreconditionError(
      "the frame does not say of what type its items are; --dtype does, such as --dtype '<f4'");
}

absl::Status CatRows(const Snapshot& snapshot, const ItemColumns& item_columns,
                     const RowSelection& selection, const OutputFlags& output) {
  constexpr int64_t kPiece = 1 << 20;
  const std::vector<int64_t> shape = ShapeOf(snapshot);
  const bool boxed = selection.box.has_value() && snapshot.array().has_value();
  ASSIGN_OR_RETURN(const Box box, selection.box ? ParseBox(*selection.box, shape)
                                                : ItemsOf(selection, snapshot.info().nitems));
  // Reading nothing checks that the frame has what its array claims, before anything is multiplied.
  RETURN_IF_ERROR(snapshot.ReadItems(0, MutableBytes()));
  const int32_t size = item_columns.item_size();
  RETURN_IF_ERROR(CheckMaxBytes(selection.max_bytes, CountItems(box) * size));
  ASSIGN_OR_RETURN(const std::vector<Field> fields, FieldsOf(output, item_columns.fields()));
  const size_t dimensions = shape.size() > 1 ? shape.size() : 0;
  std::vector<Field> shown;
  for (size_t i = 0; i < dimensions; ++i) {
    shown.push_back({.name = absl::StrFormat("i%d", i), .type = FieldType::kInt});
  }
  shown.insert(shown.end(), fields.begin(), fields.end());
  RowWriter writer(StyleOf(output), std::move(shown));
  // A failure comes after rows that were written.
  RETURN_IF_ERROR(Printed(
      ForEachPiece(box, std::max<int64_t>(kPiece / size, 1), [&](const Box& part) -> absl::Status {
        const auto count = static_cast<size_t>(CountItems(part));
        std::vector<std::byte> items(count * static_cast<size_t>(size));
        RETURN_IF_ERROR(boxed ? snapshot.ReadBox(part.start, part.shape, items)
                              : snapshot.ReadItems(part.start[0], items));
        std::vector<std::vector<int64_t>> indices;
        if (dimensions > 0) {
          indices =
              boxed ? IndicesOf(part, part.start, count) : IndicesOf(shape, part.start[0], count);
        }
        const std::vector<std::byte> records = item_columns.Convert(std::move(items));
        std::vector<ColumnView> columns;
        std::vector<std::vector<std::byte>> stored;
        for (const std::vector<int64_t>& index : indices) {
          columns.push_back({.data = stored.emplace_back(ColumnOf(index)).data(), .step = 8});
        }
        for (const ColumnView& column : ColumnsOf(fields, item_columns.record_size(), records)) {
          columns.push_back(column);
        }
        return writer.Write(columns, count);
      })));
  return writer.Finish();
}

}  // namespace cairn::tool
