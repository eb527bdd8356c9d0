// The input is a text with records: after a byte that says in which format, and one that says in
// which pieces it arrives. Records that are read are written, and read the same again.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/record.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"
#include "tools/cairn/records/record_builder.h"
#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/row_splitter.h"
#include "tools/cairn/records/row_writer.h"

namespace cairn::fuzz {
namespace {

using tool::RecordBuilder;
using tool::RecordParser;

Schema MakeSchema() {
  std::vector<Field> fields;
  for (const std::string_view text : {"time:timestamp[us]", "seen:timestamp[s]", "h:f2", "f:f4",
                                      "d:f8", "i:i1", "u:u8", "ok:bool", "text:bytes[6]"}) {
    fields.push_back(Schema::ParseField(text).value_or(Field()));
  }
  return Schema::Make(std::move(fields)).value_or(Schema());
}

std::unique_ptr<RecordParser> MakeParser(int format, RecordBuilder& builder, const Field* time) {
  if (format == 0) return tool::MakeCsvParser(builder, {});
  if (format == 1) return tool::MakeJsonParser(builder);
  return tool::MakeLineProtocolParser(builder, time, std::nullopt);
}

// A row that was written.
std::vector<std::byte> Reread(const Schema& schema, RecordParser& parser, std::string_view row) {
  std::vector<std::byte> record(static_cast<size_t>(schema.record_size()));
  row.remove_suffix(1);
  const absl::StatusOr<bool> read = parser.Parse(row, record);
  Check(read.ok() && *read, "a record is read as it was written", row);
  return record;
}

class Rows {
 public:
  explicit Rows(int format)
      : builder_(schema_, schema_.fields().data(), {.ignore_extra = format == 2}),
        parser_(MakeParser(format, builder_, schema_.fields().data())),
        csv_({.format = tool::RowFormat::kCsv}, schema_.fields()),
        json_({.format = tool::RowFormat::kJsonLines}, schema_.fields()),
        csv_parser_(tool::MakeCsvParser(builder_, {})),
        json_parser_(tool::MakeJsonParser(builder_)) {
    std::string head;
    csv_.AppendHead(head);
    head.pop_back();
    csv_parser_->Parse(head, {}).IgnoreError();
  }

  RecordParser* parser() { return parser_.get(); }

  void Take(std::string_view row) {
    std::vector<std::byte> record(static_cast<size_t>(schema_.record_size()));
    const absl::StatusOr<bool> taken = parser_->Parse(row, record);
    Check(taken.ok() || absl::IsInvalidArgument(taken.status()) ||
              absl::IsFailedPrecondition(taken.status()),
          "a row is bad, or its input", taken.status().ToString());
    if (!taken.ok() || !*taken) return;
    const std::vector<tool::ColumnView> columns =
        tool::ColumnsOf(schema_.fields(), schema_.record_size(), record);
    std::string csv;
    csv_.AppendRow(csv, columns, 0);
    CheckSame(Reread(schema_, *csv_parser_, csv), record, "CSV holds a record");
    std::string json;
    json_.AppendRow(json, columns, 0);
    CheckSame(Reread(schema_, *json_parser_, json), record, "JSON holds a record");
  }

 private:
  const Schema schema_ = MakeSchema();
  RecordBuilder builder_;
  std::unique_ptr<RecordParser> parser_;
  tool::RowFormatter csv_;
  tool::RowFormatter json_;
  std::unique_ptr<RecordParser> csv_parser_;
  std::unique_ptr<RecordParser> json_parser_;
};

struct Line {
  int64_t number = 0;
  std::string text;
  bool operator==(const Line&) const = default;
};

// The rows of a text that arrives in pieces of this size.
std::vector<Line> Split(std::string_view text, RecordParser* parser, size_t piece) {
  tool::RowSplitter splitter(parser);
  std::vector<Line> lines;
  const auto take = [&](bool at_end) {
    while (const std::optional<tool::Row> row = splitter.Next(at_end)) {
      lines.push_back({.number = row->line, .text = std::string(row->text)});
    }
  };
  while (!text.empty()) {
    splitter.Add(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    take(false);
  }
  take(true);
  return lines;
}

void Read(Bytes input) {
  Input in(input);
  const int format = in.Number<uint8_t>() % 3;
  const size_t piece = in.Number<uint8_t>() + size_t{1};
  const std::string_view text(reinterpret_cast<const char*>(in.rest().data()), in.rest().size());
  Rows rows(format);
  const std::vector<Line> lines = Split(text, rows.parser(), text.size() + 1);
  Check(lines == Split(text, rows.parser(), piece), "rows do not depend on how they arrive");
  for (const Line& line : lines) rows.Take(line.text);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::AsBytes(data, size));
  return 0;
}
