// Cuts the arriving text into rows.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_ROW_SPLITTER_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_ROW_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/cairn/records/record_parser.h"

namespace cairn::tool {

struct Row {
  int64_t line = 1;            // line on which it begins
  std::string_view text = {};  // without its line end; valid until the next Add
  bool too_long = false;       // the text is only its beginning
};

// A row may have line breaks between quotes. A quote that is never closed would take everything
// that follows. So it ends with its line if a later line is a row by itself, or if kMaxLine bytes
// did not close it.
class RowSplitter {
 public:
  // A longer line is not a row.
  static constexpr size_t kMaxLine = 1 << 20;

  // Each line is a row if the parser is null. The parser must stay in place.
  explicit RowSplitter(RecordParser* parser) : parser_(parser) {}

  void Add(std::string_view text);
  // Returns the next row that is there. At the end of the input the last row needs no line end.
  std::optional<Row> Next(bool at_end);
  // Treats the lines after the first of the row that Next returned last as rows of their own.
  void KeepFirstLine();

 private:
  std::optional<size_t> FindEnd(std::string_view text, bool at_end);
  bool HasRow(std::string_view text, size_t end);
  void Consume(size_t size);

  RecordParser* parser_;
  std::string text_;
  size_t at_ = 0;         // position in it
  size_t row_at_ = 0;     // position of the last returned row
  size_t looked_at_ = 0;  // bytes from `at_` on that are not rows by themselves
  int64_t line_ = 1;      // number of the line that begins there
  bool skips_ = false;    // skips the rest of a line that was too long
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_ROW_SPLITTER_H_
