// Reads records from an input as they arrive.
#ifndef CAIRN_TOOLS_CAIRN_RECORDS_RECORD_READER_H_
#define CAIRN_TOOLS_CAIRN_RECORDS_RECORD_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/row_splitter.h"

namespace cairn::tool {

// Handles rows that are not records. There is one for all inputs of a command.
class BadRows {
 public:
  explicit BadRows(bool skip) : skip_(skip) {}

  // Counts a bad row, and reports the first few on standard error. Returns the error if bad rows
  // end the command.
  absl::Status Add(std::string_view input, int64_t line, std::string_view why);
  int64_t count() const { return count_; }

 private:
  bool skip_;
  int64_t count_ = 0;
};

class RecordReader {
 public:
  // Without a parser the input is the records themselves. `input` and `bad` must stay in place.
  // `time` is the place of the timestamp in a record, or -1.
  RecordReader(Input& input, int32_t record_size, int32_t time,
               std::unique_ptr<RecordParser> parser, BadRows& bad);

  // Returns the records that have arrived, after at least one has, or none at the end. After an
  // error, the records before it come first.
  absl::StatusOr<Bytes> Next();
  int64_t bytes_read() const { return bytes_read_; }

 private:
  absl::Status TakeRows();
  absl::Status TakeRow(const Row& row);
  absl::Status TakeRaw();

  Input& input_;
  size_t record_size_;
  int32_t time_;
  std::unique_ptr<RecordParser> parser_;
  BadRows& bad_;
  Buffer buffer_;
  RowSplitter splitter_;
  std::vector<std::byte> records_;
  std::vector<std::byte> rest_;  // for raw records: the beginning of the next
  int64_t records_read_ = 0;
  int64_t bytes_read_ = 0;
  bool at_end_ = false;
  absl::Status status_;
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_RECORDS_RECORD_READER_H_
