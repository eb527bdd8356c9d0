#include "engine/frame/record_finder.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"

namespace cairn::frame {

namespace {

// Holds most records whole, and no more of a chunk than costs nothing.
constexpr size_t kWindow = 4096;
constexpr size_t kSearchPiece = 1 << 20;

// The whole record at `begin`, if there is an intact one.
absl::StatusOr<std::optional<FoundRecord>> ReadRecord(const FrameSource& source, int64_t begin,
                                                      const format::RecordHead& head) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  if (!RangeFits(begin, head.size, size)) return std::nullopt;
  FoundRecord record{.kind = head.kind, .begin = begin, .bytes = {}};
  record.bytes.resize(static_cast<size_t>(head.size));
  CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(begin, record.bytes));
  if (got < record.bytes.size() || !format::IsIntact(record.bytes)) return std::nullopt;
  return record;
}

bool Shows(const FoundRecord& record, uint64_t base, int64_t position) {
  if (record.kind != format::RecordKind::kBatch) return false;
  const absl::StatusOr<format::Batch> batch = format::ParseBatch(record.bytes);
  return batch.ok() && batch->links.base == base && batch->links.durable_end > position;
}

}  // namespace

absl::Status RecordFinder::Fill() {
  window_.resize(kWindow);
  CAIRN_ASSIGN_OR_RETURN(const size_t got, source_.ReadSome(position_, window_));
  window_.resize(got);
  return absl::OkStatus();
}

bool RecordFinder::stopped_at_bytes() const {
  return std::ranges::any_of(window_, [](std::byte byte) { return byte != std::byte{0}; });
}

absl::StatusOr<std::optional<FoundRecord>> RecordFinder::Take(const format::RecordHead& head) {
  std::optional<FoundRecord> record;
  if (head.size <= std::ssize(window_)) {
    const Bytes bytes = Bytes(window_).first(static_cast<size_t>(head.size));
    if (!format::IsIntact(bytes)) return std::nullopt;
    record = FoundRecord{.kind = head.kind, .begin = position_, .bytes = ToVector(bytes)};
  } else {
    CAIRN_ASSIGN_OR_RETURN(record, ReadRecord(source_, position_, head));
  }
  if (record.has_value()) position_ = record->end();
  return record;
}

absl::StatusOr<std::optional<FoundRecord>> RecordFinder::Next() {
  for (;;) {
    CAIRN_RETURN_IF_ERROR(Fill());
    if (const auto head = format::FindRecordHead(window_); head.has_value()) return Take(*head);
    const size_t head_size = std::min<size_t>(window_.size(), chunk::kHeaderSize);
    const absl::StatusOr<chunk::Header> chunk =
        chunk::ParseHeader(Bytes(window_).first(head_size), kMaxChunkBytes);
    if (!chunk.ok()) return std::nullopt;
    position_ += chunk->cbytes;
  }
}

absl::StatusOr<bool> WasDurable(const FrameSource& source, uint64_t base, int64_t position) {
  const Bytes magic = AsBytes(format::kRecordMagic);
  const std::boyer_moore_horspool_searcher searcher(
      magic.begin(), magic.end(), [](std::byte b) { return std::to_integer<size_t>(b); });
  std::vector<std::byte> piece(kSearchPiece);
  for (int64_t at = position;;) {
    CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(at, piece));
    if (static_cast<int64_t>(got) < format::kMinRecordSize) return false;
    const Bytes bytes = Bytes(piece).first(got);
    for (auto it = bytes.begin();; ++it) {
      it = std::search(it, bytes.end(), searcher);
      if (it == bytes.end()) break;
      const auto offset = static_cast<size_t>(it - bytes.begin());
      const auto head = format::FindRecordHead(bytes.subspan(offset));
      if (!head.has_value()) continue;
      CAIRN_ASSIGN_OR_RETURN(const std::optional<FoundRecord> record,
                             ReadRecord(source, at + static_cast<int64_t>(offset), *head));
      if (record.has_value() && Shows(*record, base, position)) return true;
    }
    // A head may lie across the border of two pieces.
    at += static_cast<int64_t>(got) - format::kMinRecordSize + 1;
  }
}

}  // namespace cairn::frame
