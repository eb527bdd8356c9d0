// The input is what people type about logs: after a byte that says what, a time, a number of units,
// a duration, a row of CSV or a field.

#include <string>
#include <string_view>

#include "cairn/record.h"
#include "cairn/time_text.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"
#include "tools/cairn/plot/ticks.h"
#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/row_writer.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/text/times.h"

namespace cairn::fuzz {
namespace {

void ReadTime(std::string_view text, TimeUnit unit) {
  const absl::StatusOr<int64_t> time = ParseTime(text, unit);
  if (!time.ok()) return;
  const std::string shown = tool::FormatTime(*time, unit);
  const auto again = ParseTime(shown, unit, {.check_numbers = false});
  Check(again.ok() && *again == *time, "a time is read as it was written", shown);
}

void ReadNumber(std::string_view text, TimeUnit from, TimeUnit to) {
  const absl::StatusOr<int64_t> time =
      ParseTime(text, to, {.number_unit = from, .check_numbers = false});
  if (!time.ok()) return;
  // Ticks lie within their axis, wherever that is.
  for (const int64_t length : {int64_t{1}, *time / 2 + 1, *time}) {
    int64_t end = 0;
    if (length <= 0 || __builtin_add_overflow(*time, length, &end)) continue;
    for (const tool::Tick& tick : tool::TimeTicks(*time, end, to, 8)) {
      Check(tick.at >= 0 && tick.at <= 1, "a tick is on its axis", tick.label);
    }
  }
}

void ReadDuration(std::string_view text, TimeUnit unit) {
  const absl::StatusOr<int64_t> duration = tool::ParseDuration(text, unit);
  if (!duration.ok()) return;
  const std::string shown = tool::FormatDuration(*duration, unit);
  const absl::StatusOr<int64_t> again = tool::ParseDuration(shown, unit);
  Check(again.ok() && *again == *duration, "a duration is read as it was written", shown);
}

void ReadCsvRow(std::string_view text) {
  const auto cells = tool::ParseCsvRow(text, ',');
  if (!cells.ok()) return;
  std::string row;
  for (const std::string& cell : *cells) {
    if (&cell != cells->data()) row += ',';
    tool::AppendCsvCell(row, cell);
  }
  const auto again = tool::ParseCsvRow(row, ',');
  Check(again.ok() && *again == *cells, "a row is read as it was written", row);
}

void Read(Bytes input) {
  Input in(input);
  const int which = in.Number<uint8_t>() % 4;
  const auto unit = static_cast<TimeUnit>(in.Number<uint8_t>() % 4);
  const auto other = static_cast<TimeUnit>(in.Number<uint8_t>() % 4);
  const std::string_view text(reinterpret_cast<const char*>(in.rest().data()), in.rest().size());
  if (which == 0) ReadTime(text, unit);
  if (which == 1) ReadNumber(text, unit, other);
  if (which == 2) ReadDuration(text, unit);
  if (which == 3) ReadCsvRow(text);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::AsBytes(data, size));
  return 0;
}
