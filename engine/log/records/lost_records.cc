#include "engine/log/records/lost_records.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/log/records/record_ranges.h"

namespace cairn::log {

namespace {

constexpr uint8_t kStr32 = 0xDB;  // of msgpack

// Parses one entry of the list, "3" or "7-9".
std::optional<RecordRange> ParseChunks(absl::string_view entry) {
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(entry, absl::MaxSplits('-', 1));
  const absl::string_view last = ends.second.empty() ? ends.first : ends.second;
  RecordRange chunks;
  if (!absl::SimpleAtoi(ends.first, &chunks.begin) || !absl::SimpleAtoi(last, &chunks.end)) {
    return std::nullopt;
  }
  const bool is_range = chunks.begin >= 0 && chunks.end >= chunks.begin &&
                        chunks.end < std::numeric_limits<int64_t>::max();
  if (!is_range) return std::nullopt;
  ++chunks.end;
  return chunks;
}

// Returns the named chunks in the order of the list, or nothing if it is not such a list.
std::vector<RecordRange> ParseList(Bytes content) {
  const std::optional<std::string> list = TextOf(content);
  if (!list.has_value()) return {};
  std::vector<RecordRange> chunks;
  for (const absl::string_view entry : absl::StrSplit(*list, ", ")) {
    const std::optional<RecordRange> found = ParseChunks(entry);
    if (!found || (!chunks.empty() && found->begin < chunks.back().end)) return {};
    chunks.push_back(*found);
  }
  return chunks;
}

// Returns true if the records are a hole, or all equal as those that a copy fills it with.
absl::StatusOr<bool> IsLost(const Snapshot& snapshot, const RecordRange& items) {
  const auto size = static_cast<size_t>(snapshot.info().typesize);
  std::vector<std::byte> bytes(static_cast<size_t>(items.end - items.begin) * size);
  const absl::Status status = snapshot.ReadItems(items.begin, bytes);
  if (absl::IsDataLoss(status)) return true;
  CAIRN_RETURN_IF_ERROR(status);
  return std::equal(bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end(), bytes.begin());
}

}  // namespace

std::optional<std::string> TextOf(Bytes content) {
  ByteReader reader(content, "list");
  if (reader.U8("marker") != kStr32) return std::nullopt;
  const Bytes bytes = reader.Take(reader.Be<uint32_t>("length"), "text");
  if (!reader.ok() || reader.remaining() > 0) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::vector<std::byte> EncodeList(std::string_view text) {
  ByteWriter writer;
  writer.U8(kStr32);
  writer.Be(static_cast<uint32_t>(text.size()));
  writer.Append(std::as_bytes(std::span(text)));
  return std::move(writer).Take();
}

absl::StatusOr<std::vector<RecordRange>> FindLostRecords(const Snapshot& snapshot, int64_t first,
                                                         int64_t chunk_records, int64_t nrecords) {
  std::vector<RecordRange> lost;
  if (!snapshot.HasVlmetalayer(kLostLayer)) return lost;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content, snapshot.GetVlmetalayer(kLostLayer));
  const int64_t nchunks = CeilDiv(nrecords, chunk_records);
  for (const RecordRange& chunks : ParseList(content)) {
    for (int64_t n = chunks.begin; n < std::min(chunks.end, nchunks); ++n) {
      const RecordRange items = {.begin = n * chunk_records,
                                 .end = std::min((n + 1) * chunk_records, nrecords)};
      CAIRN_ASSIGN_OR_RETURN(const bool is_lost, IsLost(snapshot, items));
      if (is_lost) AddRange(lost, {.begin = first + items.begin, .end = first + items.end});
    }
  }
  return lost;
}

absl::Status ReadWithout(std::span<const RecordRange> lost, const Snapshot& snapshot, int64_t first,
                         int64_t record, int64_t count, std::span<const FieldSpan> fields) {
  if (lost.empty()) return snapshot.ReadFields(record - first, count, fields);
  std::vector<FieldSpan> parts(fields.begin(), fields.end());
  const auto read = [&](const RecordRange& part, bool is_lost) -> absl::Status {
    for (size_t i = 0; i < fields.size(); ++i) {
      const auto size = static_cast<size_t>(fields[i].size);
      const MutableBytes dst =
          fields[i].dst.bytes().subspan(static_cast<size_t>(part.begin - record) * size,
                                        static_cast<size_t>(part.end - part.begin) * size);
      if (is_lost) std::ranges::fill(dst, std::byte{0});
      parts[i].dst = dst;
    }
    if (is_lost || part.begin == part.end) return absl::OkStatus();
    return snapshot.ReadFields(part.begin - first, part.end - part.begin, parts);
  };
  int64_t begin = record;
  for (const RecordRange& range : PartIn(lost, {.begin = record, .end = record + count})) {
    CAIRN_RETURN_IF_ERROR(read({.begin = begin, .end = range.begin}, false));
    CAIRN_RETURN_IF_ERROR(read(range, true));
    begin = range.end;
  }
  return read({.begin = begin, .end = record + count}, false);
}

}  // namespace cairn::log
