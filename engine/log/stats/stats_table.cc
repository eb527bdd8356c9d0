#include "engine/log/stats/stats_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

constexpr uint32_t kTableMagic = 0x53474C43;  // "CLGS"
constexpr uint32_t kTableVersion = 1;
// A row has at least a fingerprint, two flags and a piece without numbers.
constexpr int64_t kMinRowSize = 8 + 1 + 1 + 1 + 8 + 1;

// Returns the difference without overflow. `greater` is not less.
uint64_t Distance(int64_t less, int64_t greater) {
  return static_cast<uint64_t>(greater) - static_cast<uint64_t>(less);
}

void WriteSum(const FieldSum& sum, const Piece& piece, ByteWriter& writer) {
  const FieldAggregate& values = sum.values;
  writer.Varint(static_cast<uint64_t>(values.count));
  if (values.count == 0) return;
  for (const double value : {values.min, values.max, values.sum, values.first, values.last}) {
    writer.Le(value);
  }
  writer.Varint(Distance(piece.min_time, sum.first_time));
  writer.Varint(Distance(sum.last_time, piece.max_time));
}

FieldSum ReadSum(const Piece& piece, ByteReader& reader) {
  FieldSum sum;
  FieldAggregate& values = sum.values;
  const uint64_t count = reader.Varint("count");
  if (count > static_cast<uint64_t>(piece.nrecords)) reader.Fail("count", "more than records");
  if (count == 0 || !reader.ok()) return sum;
  values.count = static_cast<int64_t>(count);
  values.min = reader.Le<double>("least");
  values.max = reader.Le<double>("greatest");
  values.sum = reader.Le<double>("sum");
  values.first = reader.Le<double>("first");
  values.last = reader.Le<double>("last");
  const uint64_t span = Distance(piece.min_time, piece.max_time);
  const uint64_t first = reader.Varint("time of first");
  const uint64_t last = reader.Varint("time of last");
  if (first > span || last > span) reader.Fail("time of last", "outside of the piece");
  if (!reader.ok()) return {};
  sum.first_time = static_cast<int64_t>(static_cast<uint64_t>(piece.min_time) + first);
  sum.last_time = static_cast<int64_t>(static_cast<uint64_t>(piece.max_time) - last);
  return sum;
}

Piece ReadPiece(int64_t numbers, int64_t most_records, ByteReader& reader) {
  Piece piece;
  const uint64_t nrecords = reader.Varint("records");
  if (nrecords == 0 || nrecords > static_cast<uint64_t>(most_records)) {
    reader.Fail("records", "not as many as the chunk has");
    return piece;
  }
  piece.nrecords = static_cast<int32_t>(nrecords);
  piece.min_time = reader.Le<int64_t>("least time");
  const uint64_t span = reader.Varint("span");
  if (span > Distance(piece.min_time, std::numeric_limits<int64_t>::max())) {
    reader.Fail("span", "ends after the greatest time");
    return piece;
  }
  piece.max_time = static_cast<int64_t>(static_cast<uint64_t>(piece.min_time) + span);
  for (int64_t i = 0; i < numbers && reader.ok(); ++i) {
    piece.fields.push_back(ReadSum(piece, reader));
  }
  return piece;
}

ChunkStats ReadRow(int64_t numbers, int64_t chunk_records, ByteReader& reader) {
  ChunkStats stats;
  stats.fingerprint = reader.Le<uint64_t>("fingerprint");
  stats.in_order = reader.U8("in order") != 0;
  const int npieces = reader.U8("pieces");
  if (npieces < 1 || npieces > kMaxPieces) reader.Fail("pieces", "no number of pieces");
  int64_t left = chunk_records;
  for (int i = 0; i < npieces && reader.ok(); ++i) {
    stats.pieces.push_back(ReadPiece(numbers, left, reader));
    left -= stats.pieces.back().nrecords;
    const bool earlier =
        i > 0 && stats.pieces[stats.pieces.size() - 2].max_time > stats.pieces.back().min_time;
    if (stats.in_order && earlier) reader.Fail("least time", "not in order");
  }
  if (left != 0) reader.Fail("records", "fewer than the chunk has");
  return stats;
}

}  // namespace

void StatsTable::Add(const ChunkStats& stats) {
  ByteWriter writer(std::exchange(rows, {}));
  writer.Le(stats.fingerprint);
  writer.U8(stats.in_order ? 1 : 0);
  writer.U8(static_cast<uint8_t>(stats.pieces.size()));
  for (const Piece& piece : stats.pieces) {
    writer.Varint(static_cast<uint64_t>(piece.nrecords));
    writer.Le(piece.min_time);
    writer.Varint(Distance(piece.min_time, piece.max_time));
    for (const FieldSum& sum : piece.fields) WriteSum(sum, piece, writer);
  }
  rows = std::move(writer).Take();
  ++nrows;
}

void StatsTable::Add(const StatsTable& more) {
  rows.insert(rows.end(), more.rows.begin(), more.rows.end());
  nrows += more.nrows;
}

int64_t CountNumbers(const Schema& schema) {
  return std::ranges::count_if(schema.fields(), IsNumber);
}

absl::StatusOr<StatsTable> ParseStatsTable(const Schema& schema, Bytes content) {
  ByteReader reader(content, "statistics");
  ReadHeadIfAny(reader);
  if (reader.Le<uint32_t>("magic") != kTableMagic) reader.Fail("magic", "not statistics of a log");
  if (reader.Le<uint32_t>("version") != kTableVersion) reader.Fail("version", "of a newer Cairn");
  if (reader.Le<uint32_t>("numbers") != CountNumbers(schema)) {
    reader.Fail("numbers", "not as many as the records have");
  }
  StatsTable table = {.first = reader.Le<int64_t>("first"), .nrows = reader.Le<int64_t>("rows")};
  reader.AtMost(table.nrows, static_cast<int64_t>(reader.remaining()) / kMinRowSize, "rows");
  if (table.first < 0 || table.nrows < 0 || !CheckedAdd(table.first, table.nrows).has_value()) {
    reader.Fail("first", "no number of a chunk");
  }
  CAIRN_RETURN_IF_ERROR(reader.status());
  const Bytes rows = reader.Take(reader.remaining(), "rows");
  table.rows.assign(rows.begin(), rows.end());
  return table;
}

std::vector<std::byte> EncodeStatsTable(const Schema& schema, const StatsTable& table) {
  ByteWriter writer = BeginBinary();
  writer.Le(kTableMagic);
  writer.Le(kTableVersion);
  writer.Le(static_cast<uint32_t>(CountNumbers(schema)));
  writer.Le(table.first);
  writer.Le(table.nrows);
  writer.Append(table.rows);
  return EndBinary(std::move(writer));
}

absl::StatusOr<std::vector<ChunkStats>> DecodeRows(const Schema& schema, const StatsTable& table,
                                                   int64_t chunk_records) {
  const int64_t numbers = CountNumbers(schema);
  ByteReader reader(table.rows, "statistics");
  std::vector<ChunkStats> rows;
  for (int64_t i = 0; i < table.nrows && reader.ok(); ++i) {
    rows.push_back(ReadRow(numbers, chunk_records, reader));
  }
  if (reader.remaining() > 0) reader.Fail("rows", "bytes after the last");
  CAIRN_RETURN_IF_ERROR(reader.status());
  return rows;
}

}  // namespace cairn::log
