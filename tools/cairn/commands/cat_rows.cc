#include "tools/cairn/commands/cat_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "tools/cairn/flags/box.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/records/row_writer.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

// Of an array its shape; else the items are one.
std::vector<int64_t> ShapeOf(const Snapshot& snapshot) {
  return snapshot.array() ? snapshot.array()->shape : std::vector{snapshot.info().nitems};
}

absl::StatusOr<Box> BoxOf(const RowSelection& selection, const std::vector<int64_t>& shape) {
  if (selection.box) return ParseBox(*selection.box, shape);
  Box box = {.start = std::vector<int64_t>(shape.size()), .shape = shape};
  if (selection.first_item == 0 && !selection.items) return box;
  if (shape.size() != 1) {
    return absl::FailedPreconditionError(
        "--first-item, --items: of an array with several dimensions --box selects items");
  }
  const int64_t left = shape[0] - std::min(selection.first_item, shape[0]);
  if (selection.first_item > shape[0] || selection.items.value_or(left) > left) {
    return absl::OutOfRangeError(absl::StrFormat("%d items from item %d: the frame has %d",
                                                 selection.items.value_or(left),
                                                 selection.first_item, shape[0]));
  }
  return Box{.start = {selection.first_item}, .shape = {selection.items.value_or(left)}};
}

absl::Status ReadItemsOf(const Snapshot& snapshot, const Box& box, MutableItems dst) {
  return snapshot.array() ? snapshot.ReadBox(box.start, box.shape, dst)
                          : snapshot.ReadItems(box.start[0], dst);
}

// For each dimension the indices of all items of a box, in C order.
std::vector<std::vector<int64_t>> IndicesOf(const Box& box, size_t count) {
  std::vector<std::vector<int64_t>> indices(box.shape.size(), std::vector<int64_t>(count));
  std::vector<int64_t> index = box.start;
  for (size_t item = 0; item < count; ++item) {
    for (size_t i = 0; i < index.size(); ++i) indices[i][item] = index[i];
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < box.start[i] + box.shape[i]) break;
      index[i] = box.start[i];
    }
  }
  return indices;
}

}  // namespace

absl::StatusOr<Schema> SchemaOf(const Snapshot& snapshot, const std::string& dtype) {
  const std::optional<ArrayInfo> array = snapshot.array();
  const std::string& type = dtype.empty() && array ? array->dtype : dtype;
  if (!type.empty()) return Schema::FromDtype(type, snapshot.info().typesize);
  return absl::FailedPreconditionError(
      "the frame does not say of what type its items are; --dtype does, such as --dtype '<f4'");
}

absl::Status CatRows(const Snapshot& snapshot, const Schema& schema, const RowSelection& selection,
                     const OutputFlags& output) {
  constexpr int64_t kPiece = 1 << 20;
  const std::vector<int64_t> shape = ShapeOf(snapshot);
  ASSIGN_OR_RETURN(const Box box, BoxOf(selection, shape));
  // An empty box asks whether the frame has what its array claims, before anything is multiplied.
  if (const std::vector<int64_t> nothing(shape.size()); !nothing.empty() && snapshot.array()) {
    RETURN_IF_ERROR(snapshot.ReadBox(box.start, nothing, {}));
  }
  const int32_t size = schema.record_size();
  RETURN_IF_ERROR(CheckMaxBytes(selection.max_bytes, CountItems(box) * size));
  ASSIGN_OR_RETURN(const std::vector<Field> fields, FieldsOf(output, schema));
  const size_t dimensions = shape.size() > 1 ? shape.size() : 0;
  std::vector<Field> shown;
  for (size_t i = 0; i < dimensions; ++i) {
    shown.push_back({.name = absl::StrFormat("i%d", i), .type = FieldType::kInt});
  }
  shown.insert(shown.end(), fields.begin(), fields.end());
  RowWriter writer(FormatOf(output), std::move(shown), !output.no_header);
  RETURN_IF_ERROR(
      ForEachPiece(box, std::max<int64_t>(kPiece / size, 1), [&](const Box& part) -> absl::Status {
        const auto count = static_cast<size_t>(CountItems(part));
        std::vector<std::byte> items(count * static_cast<size_t>(size));
        RETURN_IF_ERROR(ReadItemsOf(snapshot, part, items));
        const auto indices =
            dimensions == 0 ? std::vector<std::vector<int64_t>>() : IndicesOf(part, count);
        std::vector<ColumnView> columns;
        for (const std::vector<int64_t>& index : indices) {
          columns.push_back({.data = std::as_bytes(std::span(index)).data(), .step = 8});
        }
        for (const ColumnView& column : ColumnsOf(fields, size, items)) columns.push_back(column);
        return writer.Write(columns, count);
      }));
  return writer.Finish();
}

}  // namespace cairn::tool
