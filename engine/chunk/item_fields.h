// Takes fields out of items, such as the columns of records.
#ifndef CAIRN_ENGINE_CHUNK_ITEM_FIELDS_H_
#define CAIRN_ENGINE_CHUNK_ITEM_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "cairn/items.h"
#include "cairn/types.h"
#include "engine/base/scratch_buffer.h"

namespace cairn::chunk {

// Items whose fields are wanted.
struct ItemRange {
  int64_t begin = 0;  // of the first item, in bytes
  int64_t first = 0;  // number of its values in the arrays of the fields
  int64_t count = 0;
};

// The wanted fields of items of one size, and their arrays.
class ItemFields {
 public:
  ItemFields(int64_t item_size, std::span<const FieldSpan> fields)
      : item_size_(item_size), fields_(fields) {}

  int64_t item_size() const { return item_size_; }
  std::span<const FieldSpan> fields() const { return fields_; }
  // Returns the bytes of an item that are wanted.
  int64_t wanted_size() const;

  // Returns the place of the values of some items in a field's array.
  static MutableBytes ValuesOf(const FieldSpan& field, const ItemRange& items) {
    const auto size = static_cast<size_t>(field.size);
    return field.dst.bytes().subspan(static_cast<size_t>(items.first) * size,
                                     static_cast<size_t>(items.count) * size);
  }

  // Copies the values out of these items, whose bytes are `held`.
  void Gather(Bytes held, const ItemRange& items) const;

  // Copies the values out of items whose bytes `read` gives. It reads as many items at a time as
  // fit a cache, or field by field if not even one does.
  absl::Status Read(ItemRange items, ScratchBuffer& buffer,
                    absl::FunctionRef<absl::Status(int64_t begin, MutableBytes dst)> read) const;

 private:
  int64_t item_size_;
  std::span<const FieldSpan> fields_;
};

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_ITEM_FIELDS_H_
