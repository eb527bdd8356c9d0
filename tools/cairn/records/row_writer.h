// Writes records as text, or unchanged, on standard output.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_ROW_WRITER_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_ROW_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"

#include "cairn/key_texts.h"
#include "cairn/record.h"
#include "cairn/types.h"

namespace cairn::tool {

enum class RowFormat : uint8_t { kCsv, kJsonLines, kRaw };

// How rows are written.
struct RowStyle {
  RowFormat format = RowFormat::kCsv;
  bool head = true;  // the first row of CSV has the names
  // Times in text are those of the clocks of this zone, or else of UTC.
  std::optional<absl::TimeZone> zone = std::nullopt;
};

// The values of one field in memory.
struct ColumnView {
  const std::byte* data = nullptr;
  size_t step = 0;  // bytes from one value to the next
  // True if there are no values, in a column of a type that cannot say so, such as an integer.
  bool missing = false;
  // If not null, the number of the record of each row. Those before `first_with_value` have no
  // value.
  const int64_t* records = nullptr;
  int64_t first_with_value = 0;
  const KeyTexts* texts = nullptr;  // of a field with codes of texts

  bool IsMissing(size_t row) const {
    return missing || (records != nullptr && records[row] < first_with_value);
  }
};

// Returns the values of all fields of packed records.
std::vector<ColumnView> ColumnsOf(const std::vector<Field>& fields, int32_t record_size,
                                  Bytes records);

// Formats rows as bytes: lines of text, or the values without names.
class RowFormatter {
 public:
  RowFormatter(RowStyle style, std::vector<Field> fields);

  // Appends the names, if the style has them.
  void AppendHead(std::string& out) const;
  void AppendRow(std::string& out, std::span<const ColumnView> columns, size_t row) const;

 private:
  RowStyle style_;
  std::vector<Field> fields_;
  std::vector<std::string> keys_;  // for JSON: the text before each value
};

class RowWriter {
 public:
  RowWriter(RowStyle style, std::vector<Field> fields);

  // Takes `count` rows.
  absl::Status Write(std::span<const ColumnView> columns, size_t count);
  // Writes the rest, and the head if there was no row.
  absl::Status Finish();

 private:
  absl::Status Flush();

  RowFormatter formatter_;
  std::string text_;
};

// Appends a cell of CSV, in quotes if needed.
void AppendCsvCell(std::string& out, std::string_view text);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_ROW_WRITER_H_
