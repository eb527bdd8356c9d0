// The input is one of the texts and structures that a log is described by: after a byte that says
// which, a dtype, a table of statistics, what the log says of itself, of deleted records, of its
// fields or of the texts of its keys, or a request to its writer.

#include <string_view>
#include <vector>

#include "cairn/record.h"
#include "engine/base/binary_value.h"
#include "engine/base/bytes.h"
#include "engine/log/keys/key_table.h"
#include "engine/log/records/record_ranges.h"
#include "engine/log/state/edit_layer.h"
#include "engine/log/state/field_layer.h"
#include "engine/log/state/log_layer.h"
#include "engine/log/stats/stats_table.h"
#include "engine/log/write/delete_request.h"
#include "engine/log/write/limits_request.h"
#include "fuzz/check.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

constexpr int64_t kChunkRecords = 100;

void ReadDtype(Bytes input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  for (const int32_t size : {4, 8, 20, 24}) {
    const absl::StatusOr<Schema> schema = Schema::FromDtype(text, size);
    if (!schema.ok()) {
      Check(absl::IsInvalidArgument(schema.status()) || absl::IsUnimplemented(schema.status()),
            "a dtype is refused as what it is", schema.status().ToString());
      continue;
    }
    const absl::StatusOr<Schema> again = Schema::FromDtype(schema->ToDtype(), size);
    Check(again.ok() && *again == *schema, "a schema is read as it was written", schema->ToDtype());
  }
}

// Checks that a layer is written as it was read. What older Cairns wrote gets a head.
void CheckSameLayer(const std::vector<std::byte>& written, Bytes read, std::string_view promise) {
  const bool is_bare = written.size() == kBinaryHead + read.size();
  CheckSame(Bytes(written).subspan(is_bare ? kBinaryHead : 0), read, promise);
}

void ReadStats(Bytes input) {
  const Schema schema =
      Schema::FromDtype("[('t', '<M8[us]'), ('x', '<f8'), ('n', '<i4')]", 20).value_or(Schema());
  const absl::StatusOr<log::StatsTable> table = log::ParseStatsTable(schema, input);
  if (!IsAnswer(table.status())) return;
  CheckSameLayer(log::EncodeStatsTable(schema, *table), input, "a table is written as it was read");
  const auto rows = log::DecodeRows(schema, *table, kChunkRecords);
  if (!rows.ok()) return;
  log::StatsTable again = {.first = table->first};
  for (const log::ChunkStats& stats : *rows) {
    Check(stats.nrecords() == kChunkRecords, "a row is one of a whole chunk");
    Check(stats.min_time() <= stats.max_time(), "times have an order");
    again.Add(stats);
  }
  const absl::StatusOr<std::vector<log::ChunkStats>> same =
      log::DecodeRows(schema, again, kChunkRecords);
  Check(same.ok() && same->size() == rows->size(), "rows are read as they were written");
}

void ReadLayer(Bytes input) {
  const absl::StatusOr<log::LogLayer> layer = log::ParseLogLayer(input);
  if (!IsAnswer(layer.status())) return;
  const absl::StatusOr<log::LogLayer> again = log::ParseLogLayer(log::EncodeLogLayer(*layer));
  Check(again.ok() && *again == *layer, "a log is read as it was written");
}

void ReadRequest(Bytes input) {
  const absl::StatusOr<log::LimitsRequest> request = log::ParseRequest(input);
  if (!IsAnswer(request.status())) return;
  CheckSame(log::EncodeRequest(*request), input, "a request is written as it was read");
}

void ReadEdits(Bytes input) {
  const absl::StatusOr<log::EditLayer> layer = log::ParseEditLayer(input);
  if (!IsAnswer(layer.status())) return;
  const absl::StatusOr<log::EditLayer> again = log::ParseEditLayer(log::EncodeEditLayer(*layer));
  Check(again.ok() && *again == *layer, "edits are read as they were written");
  int64_t end = -1;
  int64_t count = 0;
  for (const RecordRange& range : layer->deleted) {
    Check(range.begin > end && range.end > range.begin, "ranges are in order and do not touch");
    end = range.end;
    count += range.end - range.begin;
  }
  Check(log::CountIn(layer->deleted, {.begin = 0, .end = end}) == count, "all records count");
}

void ReadDeletion(Bytes input) {
  const absl::StatusOr<LogSelection> which = log::ParseDeletion(input);
  if (!IsAnswer(which.status())) return;
  CheckSame(log::EncodeDeletion(*which), input, "a request is written as it was read");
}

void ReadFields(Bytes input) {
  const auto fields = log::ParseFieldLayer(input);
  if (!IsAnswer(fields.status())) return;
  const auto again = log::ParseFieldLayer(log::EncodeFieldLayer(*fields));
  Check(again.ok() && *again == *fields, "fields are read as they were written");
}

void ReadKeys(Bytes input) {
  constexpr size_t kKeyFields = 3;
  const absl::StatusOr<log::KeyTable> table = log::ParseKeyTable(input);
  if (!IsAnswer(table.status())) return;
  CheckSameLayer(log::EncodeKeyTable(*table), input, "a table is written as it was read");
  const auto texts = log::DecodeTexts(*table, 0, kKeyFields);
  if (!texts.ok()) return;
  log::KeyTable again = {.first = table->first};
  for (const log::KeyText& text : *texts) {
    Check(text.field < kKeyFields && log::CheckKey(text.text).ok(), "a text is one of a key");
    again.Add(text);
  }
  const auto same = log::DecodeTexts(again, 0, kKeyFields);
  Check(same.ok() && *same == *texts, "texts are read as they were written");
}

void Read(Bytes input) {
  if (input.empty()) return;
  const int which = std::to_integer<int>(input[0]) % 8;
  input = input.subspan(1);
  if (which == 0) ReadDtype(input);
  if (which == 1) ReadStats(input);
  if (which == 2) ReadLayer(input);
  if (which == 3) ReadRequest(input);
  if (which == 4) ReadEdits(input);
  if (which == 5) ReadDeletion(input);
  if (which == 6) ReadFields(input);
  if (which == 7) ReadKeys(input);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::AsBytes(data, size));
  return 0;
}
