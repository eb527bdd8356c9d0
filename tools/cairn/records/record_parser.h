// Parses records in the rows of a text: CSV, JSON lines and InfluxDB line protocol.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_RECORD_PARSER_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_RECORD_PARSER_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/record.h"
#include "cairn/types.h"
#include "tools/cairn/records/record_builder.h"

namespace cairn::tool {

class RecordParser {
 public:
  virtual ~RecordParser() = default;

  // Makes a record of a row. Returns false for a row that holds none. Errors: kInvalidArgument for
  // a bad row; any other error for an input of which no row is good.
  virtual absl::StatusOr<bool> Parse(std::string_view row, MutableBytes record) = 0;
  // Returns where the first row of a text ends: with its line, unless a quote includes further
  // ones. Returns npos if the text ends in a quote.
  virtual size_t FindEnd(std::string_view text) const {
    return std::min(text.find('\n'), text.size());
  }
  // Returns true if a line is surely a row by itself. A quote that was open before it is stray.
  virtual bool IsRow(std::string_view /*line*/) { return true; }
};

struct CsvOptions {
  char delimiter = ',';
  // Names of the columns. If empty, they are in the first row.
  std::vector<std::string> columns = {};
};

// Returns the cells of a row, without the blanks around them. Errors: kInvalidArgument for quotes
// that do not match.
absl::StatusOr<std::vector<std::string>> ParseCsvRow(std::string_view row, char delimiter);

// The builder must stay in place.
std::unique_ptr<RecordParser> MakeCsvParser(RecordBuilder& builder, CsvOptions options);
// Each line is an object, whose members are named like fields.
std::unique_ptr<RecordParser> MakeJsonParser(RecordBuilder& builder);
// Tags and fields are values. Lines of other measurements than this one hold no record. Times are
// nanoseconds unless the builder's options say otherwise. Lines without one get that of their
// arrival.
std::unique_ptr<RecordParser> MakeLineProtocolParser(RecordBuilder& builder, const Field* time,
                                                     std::optional<std::string> measurement);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_RECORD_PARSER_H_
