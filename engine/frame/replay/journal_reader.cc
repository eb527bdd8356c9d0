#include "engine/frame/replay/journal_reader.h"

#include <algorithm>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/extent.h"
#include "engine/base/hash.h"
#include "engine/base/scratch_buffer.h"
#include "engine/base/status.h"

namespace cairn::frame {

namespace {

// This is usually enough to distinguish zeros that were reserved from other bytes.
constexpr size_t kWindow = 4096;
constexpr size_t kWidestWindow = 256 << 10;

// Reads stop at the end of the page, because kernel readahead creates large folios that slow the
// writer's next small write. Reading ahead starts only well into a long journal.
constexpr size_t kFar = 32 << 10;

constexpr size_t kPiece = 1 << 20;

// Records do not overlap, so a journal was made to waste time if its search reads more than this
// many times the bytes that it looks through.
constexpr int64_t kMaxOverlaps = 4;

// This is enough to recognise a record or a chunk.
constexpr size_t kLongestHead = std::max<size_t>(format::kMinRecordSize, chunk::kHeaderSize);

// This many zeros are reserved space, not damage.
constexpr size_t kZerosBelieved = 64 << 10;

// After this many zeros, more than any writer reserves, nothing was written.
constexpr int64_t kMostZeros = int64_t{128} << 20;

// Returns true if there is an intact record at `begin`. Reads it piece by piece, so that a record
// that only claims to be large costs no memory.
absl::StatusOr<bool> HasIntactRecord(const FrameFile& source, int64_t begin,
                                     const format::RecordHead& head) {
  const int64_t hash_begin = begin + head.size - format::kRecordHashSize;
  std::vector<std::byte> piece(
      static_cast<size_t>(std::min<int64_t>(hash_begin - begin, static_cast<int64_t>(kPiece))));
  Xxh3Stream stream;
  for (int64_t at = begin; at < hash_begin; at += std::ssize(piece)) {
    piece.resize(static_cast<size_t>(std::min<int64_t>(hash_begin - at, std::ssize(piece))));
    CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(at, piece));
    if (got < piece.size()) return false;
    stream.Update(piece);
  }
  piece.resize(static_cast<size_t>(format::kRecordHashSize));
  CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(hash_begin, piece));
  return got == piece.size() && format::StoredChecksum(piece) == stream.Digest();
}

// Returns the record at `begin`, if there is an intact one.
absl::StatusOr<std::optional<FoundRecord>> ReadRecord(const FrameFile& source, int64_t begin,
                                                      const format::RecordHead& head) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  if (!RangeFits(begin, head.size, size)) return std::nullopt;
  if (head.size > static_cast<int64_t>(kPiece)) {
    CAIRN_ASSIGN_OR_RETURN(const bool intact, HasIntactRecord(source, begin, head));
    if (!intact) return std::nullopt;
  }
  FoundRecord record{.kind = head.kind, .begin = begin, .bytes = {}};
  record.bytes.resize(static_cast<size_t>(head.size));
  CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(begin, record.bytes));
  if (got < record.bytes.size() || !format::ChecksumMatches(record.bytes)) return std::nullopt;
  return record;
}

}  // namespace

absl::Status JournalReader::ReadUpTo(int64_t end) {
  const auto size = static_cast<size_t>(end - window_begin_);
  if (window_.size() < size) window_.resize(size);
  const int64_t seen_end = window_begin_ + static_cast<int64_t>(filled_);
  const MutableBytes rest = MutableBytes(window_).subspan(filled_, size - filled_);
  CAIRN_ASSIGN_OR_RETURN(const size_t got, source_.ReadSome(seen_end, rest));
  filled_ += got;
  return absl::OkStatus();
}

// Makes the window begin at the position.
void JournalReader::ForgetPassed() {
  const Bytes seen = Bytes(window_).first(filled_);
  const auto passed = static_cast<uint64_t>(position_ - window_begin_);
  const Bytes kept = seen.subspan(static_cast<size_t>(std::min<uint64_t>(passed, filled_)));
  std::ranges::copy(kept, window_.begin());
  filled_ = kept.size();
  window_begin_ = position_;
}

absl::StatusOr<Bytes> JournalReader::Ahead(size_t size) {
  const int64_t seen_end = window_begin_ + static_cast<int64_t>(filled_);
  const int64_t needed = position_ + static_cast<int64_t>(size);
  const bool goes_on = position_ >= window_begin_ && position_ <= seen_end + kPageSize;
  if (!goes_on || needed > seen_end) {
    const size_t passed = goes_on && filled_ >= kFar ? filled_ : 0;
    const auto ahead = static_cast<int64_t>(std::min(passed / 2, kWidestWindow));
    if (!goes_on || filled_ > kWidestWindow) ForgetPassed();
    const int64_t origin = source_.origin();
    const int64_t end =
        (CeilDiv(origin + needed, kPageSize) + ahead / kPageSize) * kPageSize - origin;
    CAIRN_RETURN_IF_ERROR(ReadUpTo(end));
  }
  const auto passed = static_cast<size_t>(position_ - window_begin_);
  return Bytes(window_).first(filled_).subspan(std::min(passed, filled_));
}

Bytes JournalReader::Seen(int64_t begin, int64_t size) const {
  if (!RangeFits(begin - window_begin_, size, static_cast<int64_t>(filled_))) return {};
  return Bytes(window_).subspan(static_cast<size_t>(begin - window_begin_),
                                static_cast<size_t>(size));
}

absl::StatusOr<bool> JournalReader::StoppedAtBytes(size_t size) {
  CAIRN_ASSIGN_OR_RETURN(const Bytes ahead, Ahead(size));
  const Bytes near = ahead.first(std::min(ahead.size(), size));
  return !near.empty() && !IsRunOfZeros(near);
}

absl::StatusOr<bool> JournalReader::StoppedAtBytes() {
  CAIRN_ASSIGN_OR_RETURN(const bool near, StoppedAtBytes(kWindow));
  return near ? near : StoppedAtBytes(kZerosBelieved);
}

absl::StatusOr<bool> JournalReader::Spend(int64_t size) {
  if (!budget_.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(const int64_t file_size, source_.Size());
    // A writer may continue to write.
    budget_.emplace(std::max<int64_t>(file_size - begin_, kPiece), kMaxOverlaps);
  }
  return budget_->Spend(size);
}

absl::StatusOr<std::optional<FoundRecord>> JournalReader::ReadHere(const format::RecordHead& head) {
  if (head.size > static_cast<int64_t>(kWidestWindow)) return ReadRecord(source_, position_, head);
  CAIRN_ASSIGN_OR_RETURN(const Bytes ahead, Ahead(static_cast<size_t>(head.size)));
  if (head.size > std::ssize(ahead)) return std::nullopt;
  const Bytes bytes = ahead.first(static_cast<size_t>(head.size));
  if (!format::ChecksumMatches(bytes)) return std::nullopt;
  return FoundRecord{.kind = head.kind, .begin = position_, .bytes = ToVector(bytes)};
}

absl::StatusOr<std::optional<FoundRecord>> JournalReader::Take(const format::RecordHead& head) {
  if (head.size > end_ - position_) return std::nullopt;
  const bool large = head.size > static_cast<int64_t>(kWidestWindow);
  if (large) {
    CAIRN_ASSIGN_OR_RETURN(const bool affordable, Spend(head.size));
    if (!affordable) return std::nullopt;
  }
  CAIRN_ASSIGN_OR_RETURN(std::optional<FoundRecord> record, ReadHere(head));
  if (record.has_value()) {
    position_ = record->end();
    if (format::IsCommit(record->kind)) CAIRN_RETURN_IF_ERROR(TakeReceipt(*record));
  } else if (!large) {
    // A search reads the same bytes again.
    CAIRN_RETURN_IF_ERROR(Spend(head.size).status());
  }
  return record;
}

absl::Status JournalReader::TakeReceipt(FoundRecord& commit) {
  // Receipts of older versions are longer. The bytes after a receipt may be far away.
  for (const int64_t size : {format::kReceiptSize, format::kMaxReceiptSize}) {
    const auto most = static_cast<size_t>(std::min(size, end_ - position_));
    CAIRN_ASSIGN_OR_RETURN(const Bytes ahead, Ahead(most));
    commit.receipt = format::FindReceipt(ahead.first(std::min(ahead.size(), most)), position_);
    if (commit.receipt.has_value()) break;
  }
  position_ = commit.end();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<FoundRecord>> JournalReader::Next() {
  while (position_ < end_) {
    CAIRN_ASSIGN_OR_RETURN(const Bytes first, Ahead(1));
    // Neither a record nor a chunk begins with a zero.
    if (first.empty() || first[0] == std::byte{0}) return std::nullopt;
    CAIRN_ASSIGN_OR_RETURN(const Bytes ahead, Ahead(kLongestHead));
    if (const auto head = format::FindRecordHead(ahead); head.has_value()) return Take(*head);
    const Bytes start = ahead.first(std::min<size_t>(ahead.size(), chunk::kHeaderSize));
    const absl::StatusOr<chunk::Header> chunk = chunk::ParseHeader(start, INT32_MAX);
    if (!chunk.ok()) return std::nullopt;
    skipped_.position = position_;
    CopyBytes(start, skipped_.header);
    ++skipped_.count;
    position_ += chunk->cbytes;
  }
  return std::nullopt;
}

absl::StatusOr<bool> JournalReader::Search(int64_t begin, int64_t seen,
                                           absl::FunctionRef<bool(FoundRecord)> visit) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t file_size, source_.Size());
  const int64_t size = std::min(file_size, end_);
  // Bytes that looked like the header of a chunk may have led past the end.
  seen = std::min(seen, size);
  if (begin < seen) {
    CAIRN_ASSIGN_OR_RETURN(const bool affordable, Spend(seen - begin));
    if (!affordable) return false;
  }
  int64_t position = begin;
  ScratchBuffer buffer;
  // The next record is usually near, and there may be many searches.
  size_t ahead = kWindow;
  for (int64_t zeros = 0; position < size && zeros < kMostZeros;) {
    const MutableBytes piece = buffer.Get(
        static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(ahead), size - position)));
    CAIRN_ASSIGN_OR_RETURN(const size_t got, source_.ReadSome(position, piece));
    if (static_cast<int64_t>(got) < format::kMinRecordSize) return true;
    const Bytes bytes = piece.first(got);
    zeros = IsRunOfZeros(bytes) ? zeros + std::ssize(bytes) : 0;
    const std::string_view text = AsText(bytes);
    for (size_t at = text.find(format::kMagicBegin); at != text.npos;
         at = text.find(format::kMagicBegin, at + 1)) {
      const auto head = format::FindRecordHead(bytes.subspan(at));
      if (!head.has_value() || head->size > size - position - static_cast<int64_t>(at)) continue;
      CAIRN_ASSIGN_OR_RETURN(const bool affordable, Spend(head->size));
      if (!affordable) return true;
      CAIRN_ASSIGN_OR_RETURN(std::optional<FoundRecord> record,
                             ReadRecord(source_, position + static_cast<int64_t>(at), *head));
      if (record.has_value() && visit(*std::move(record))) return true;
    }
    // A head may lie across the border of two pieces.
    position += static_cast<int64_t>(got) - format::kMinRecordSize + 1;
    ahead = std::min(2 * ahead, kPiece);
  }
  return true;
}

}  // namespace cairn::frame
