// LogBatch: some of the records that a query of a log found, as columns.
#ifndef CAIRN_LOG_BATCH_H_
#define CAIRN_LOG_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/key_texts.h"
#include "cairn/record.h"
#include "cairn/types.h"

namespace cairn {

// A type that LogBatch::Column can return the values of a field as.
template <typename T>
concept ColumnValue = std::is_same_v<T, std::string> ||
    (std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, long double>);

// Some of the records that a query found, as columns.
struct CAIRN_EXPORT LogBatch {
  std::vector<int64_t> records;                      // numbers of the records
  std::vector<std::vector<std::byte>> columns;       // values of each field of the query, as stored
  std::shared_ptr<const std::vector<Field>> fields;  // the fields of the query; never null
  // The next two have an item for each field of the query. They are empty if no field has texts and
  // all records have a value of each field.
  // Number of the first record that has a value; see LogSnapshot::FirstWithValue.
  std::vector<int64_t> first_with_value;
  // Texts of a field of type kText, whose column has codes; null for other types.
  std::vector<std::shared_ptr<const KeyTexts>> texts;
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(records.size()); }
  // Returns false if record `i` of the batch is older than the field of this column. The column
  // then has NaN, no time, an empty text, 0 or false.
  [[nodiscard]] bool HasValue(size_t column, size_t i) const {
    return first_with_value.empty() || records[i] >= first_with_value[column];
  }
  // Returns the texts of a column, or null.
  [[nodiscard]] const KeyTexts* TextsOf(size_t column) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return texts.empty() ? nullptr : texts[column].get();
  }

  // Returns the values of one field of the query. T is the number type of the field, such as float
  // for f4, or int64_t for a timestamp; uint8_t for a boolean; std::string for texts, and for bytes
  // without the zeros at the end.
  // Errors: kNotFound if the query does not return a field with this name; kInvalidArgument if its
  // values are of another type.
  template <ColumnValue T>
  absl::StatusOr<std::vector<T>> Column(std::string_view field) const {
    if constexpr (std::is_same_v<T, std::string>) {
      return TextColumn(field);
    } else {
      constexpr FieldType kType = std::is_floating_point_v<T> ? FieldType::kFloat
                                  : std::is_signed_v<T>       ? FieldType::kInt
                                                              : FieldType::kUint;
      std::vector<T> values(records.size());
      absl::Status status =
          CopyNumbers(field, kType, sizeof(T), std::as_writable_bytes(std::span(values)));
      if (!status.ok()) return status;
      return values;
    }
  }

 private:
  [[nodiscard]] absl::StatusOr<size_t> FindColumn(std::string_view field) const;
  absl::Status CopyNumbers(std::string_view field, FieldType type, size_t size,
                           MutableBytes dst) const;
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> TextColumn(std::string_view field) const;
};

}  // namespace cairn

#endif  // CAIRN_LOG_BATCH_H_
