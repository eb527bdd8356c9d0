// Shows items of any NumPy type as records of fields that can be written as text.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_ITEM_COLUMNS_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_ITEM_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/record.h"
#include "cairn/types.h"
#include "tools/dtypes/column.h"

namespace cairn::tool {

// The fields of items, and a way to convert items to them. Immutable.
class ItemColumns {
 public:
  // Errors: kInvalidArgument for a text that is not a dtype, or not one of `item_size` bytes.
  static absl::StatusOr<ItemColumns> Make(const std::string& dtype, int32_t item_size);

  // Returns plain types in the form of a Schema. Dates, characters of 4 bytes and raw bytes are
  // texts, in ISO 8601, UTF-8 and hexadecimal digits.
  const std::vector<Field>& fields() const { return fields_; }
  int32_t item_size() const { return item_size_; }
  // Returns the size of what Convert makes of an item.
  int32_t record_size() const { return record_size_; }
  // Converts items to records of the fields.
  std::vector<std::byte> Convert(std::vector<std::byte> items) const;

 private:
  void Add(const dtypes::Column& column);

  std::vector<dtypes::Column> columns_;  // empty: the items are such records
  std::vector<Field> fields_;
  int32_t item_size_ = 0;
  int32_t record_size_ = 0;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_ITEM_COLUMNS_H_
