// Cuts what arrives into rows.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_ROW_SPLITTER_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_ROW_SPLITTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cairn::tool {

struct Row {
  int64_t line = 1;            // on which it begins
  std::string_view text = {};  // without its line end; valid until the next Add
  bool too_long = false;       // the text is only its beginning
};

class RowSplitter {
 public:
  // A line that is longer is no row.
  static constexpr size_t kMaxLine = 1 << 20;

  // With a delimiter, line breaks between quotes do not end a row.
  explicit RowSplitter(char delimiter) : delimiter_(delimiter) {}

  void Add(std::string_view text);
  // The next row that is there; at the end of the input the last one needs no line end.
  std::optional<Row> Next(bool at_end);

 private:
  std::optional<size_t> FindEnd(std::string_view text, bool at_end) const;
  void Consume(size_t size);

  char delimiter_;
  std::string text_;
  size_t at_ = 0;       // in it
  int64_t line_ = 1;    // which begins there
  bool skips_ = false;  // the rest of a line that was too long
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_ROW_SPLITTER_H_
