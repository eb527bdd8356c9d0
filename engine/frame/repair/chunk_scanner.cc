#include "engine/frame/repair/chunk_scanner.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/format/msgpack.h"

namespace cairn::frame {

namespace {

constexpr int64_t kStep = 1 << 16;

// What chunks that fail may cost together, stored and decoded: so many times the size of the file.
constexpr int64_t kMaxFailures = 256;
constexpr int64_t kFewBytes = 16 << 20;

std::string BrokenChunk(int64_t cbytes, absl::string_view why) {
  return absl::StrFormat("chunk of %d bytes: %s", cbytes, why);
}

bool MayBegin(std::byte first) {
  return (first >= std::byte{chunk::kVersionBlosc1} &&
          first <= std::byte{chunk::kVersionVlBlocks}) ||
         first == static_cast<std::byte>(format::kRecordMagic[0]);
}

}  // namespace

ChunkScanner::ChunkScanner(BufferedFile& window, ChunkDetector& probe, std::vector<Extent> known)
    : window_(window),
      probe_(probe),
      known_(std::move(known)),
      budget_(std::max(window.size(), kFewBytes), kMaxFailures) {}

absl::StatusOr<ScanResult> ChunkScanner::Run(int64_t begin,
                                             absl::FunctionRef<bool(int64_t)> progress) {
  GoOnAt(begin);
  for (;;) {
    CAIRN_ASSIGN_OR_RETURN(const Candidate next, FindNext(position_, progress));
    if (next.kind == Candidate::Kind::kEndOfFile) break;
    CAIRN_RETURN_IF_ERROR(Take(next));
  }
  CAIRN_RETURN_IF_ERROR(CloseGap(window_.size()));
  return std::move(result_);
}

// The number of the first known extent that begins there or later.
size_t ChunkScanner::NextKnown(int64_t from) const {
  return static_cast<size_t>(std::ranges::lower_bound(known_, from, {}, &Extent::begin) -
                             known_.begin());
}

ChunkScanner::Candidate ChunkScanner::Look(Bytes head, int64_t at) const {
  Candidate sighting;
  sighting.begin = at;
  const size_t known = NextKnown(at);
  if (known < known_.size() && known_[known].begin == at) {
    sighting.kind = Candidate::Kind::kKnown;
    sighting.end = known_[known].end;
  } else if (const auto record = format::FindRecordHead(head);
             record.has_value() && record->size <= window_.size() - at) {
    sighting.kind = Candidate::Kind::kRecord;
    sighting.end = at + record->size;
  } else if (const auto header = probe_.Peek(head, window_.size() - at); header.has_value()) {
    sighting.kind = Candidate::Kind::kChunk;
    sighting.end = at + header->cbytes;
    sighting.header = *header;
  }
  return sighting;
}

absl::StatusOr<ChunkScanner::Candidate> ChunkScanner::LookAt(int64_t at) {
  if (at == window_.size()) return Candidate{.kind = Candidate::Kind::kEndOfFile};
  CAIRN_ASSIGN_OR_RETURN(const Bytes head, window_.ReadAsideUpTo(at, ChunkDetector::kPeek));
  return Look(head, at);
}

absl::StatusOr<ChunkScanner::Candidate> ChunkScanner::FindNext(
    int64_t from, absl::FunctionRef<bool(int64_t)> progress) {
  while (from < window_.size()) {
    if (!progress(from)) return absl::CancelledError("salvage: stopped");
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, window_.ReadUpTo(from, kStep + ChunkDetector::kPeek));
    const size_t places = std::min(bytes.size(), static_cast<size_t>(kStep));
    const size_t known = NextKnown(from);
    const int64_t known_begin = known < known_.size() ? known_[known].begin : window_.size();
    for (size_t i = 0; i < places; ++i) {
      const int64_t at = from + static_cast<int64_t>(i);
      if (at != known_begin && !MayBegin(bytes[i])) continue;
      const Bytes rest = bytes.subspan(i);
      const Candidate sighting =
          Look(rest.first(std::min(rest.size(), static_cast<size_t>(ChunkDetector::kPeek))), at);
      if (sighting.kind != Candidate::Kind::kNothing) return sighting;
    }
    from += static_cast<int64_t>(places);
  }
  return Candidate{.kind = Candidate::Kind::kEndOfFile};
}

absl::Status ChunkScanner::Take(const Candidate& sighting) {
  switch (sighting.kind) {
    case Candidate::Kind::kRecord:
      return TakeRecord(sighting);
    case Candidate::Kind::kChunk:
      return TakeChunk(sighting);
    default:
      // A checkpoint has made a chunk of the tail.
      result_.tail.clear();
      CAIRN_RETURN_IF_ERROR(CloseGap(sighting.begin));
      GoOnAt(sighting.end);
      return absl::OkStatus();
  }
}

absl::Status ChunkScanner::TakeRecord(const Candidate& record) {
  const int64_t size = record.end - record.begin;
  CAIRN_RETURN_IF_ERROR(Spend(size));
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, window_.Read(record.begin, size));
  if (!format::ChecksumMatches(bytes)) {
    position_ = record.begin + 1;
    return absl::OkStatus();
  }
  TakeTail(record, bytes);
  CAIRN_RETURN_IF_ERROR(CloseGap(record.begin));
  GoOnAt(record.end);
  return absl::OkStatus();
}

void ChunkScanner::TakeTail(const Candidate& record, Bytes bytes) {
  const absl::StatusOr<format::CommitRecord> batch = format::ParseBatch(bytes, record.begin);
  if (!batch.ok()) return;
  const format::TailEdit& edit = batch->tail;
  if (edit.replaces) result_.tail.clear();
  result_.tail.insert(result_.tail.end(), edit.items.begin(), edit.items.end());
  result_.tail_record = {record.begin, record.end};
}

// Values of vlmetalayers are chunks too. Before each stands its length as msgpack writes it, also
// where the rest of the trailer is gone.
absl::StatusOr<bool> ChunkScanner::IsLayerValue(const Candidate& chunk) {
  std::byte before[5] = {std::byte{format::msgpack::kBin32}};
  StoreBe(before + 1, static_cast<uint32_t>(chunk.header.cbytes));
  const int64_t begin = chunk.begin - std::ssize(before);
  if (begin < 0) return false;
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, window_.ReadAsideUpTo(begin, std::ssize(before)));
  return std::ranges::equal(bytes, before);
}

// Among remains of whatever lay there before, bytes soon read like the short header of a plain
// copy, in which nothing could fail, and chunks lie behind it.
absl::StatusOr<bool> ChunkScanner::IsLikely(const Candidate& chunk) {
  if (IsExpected(chunk) || chunk.header.extended) return true;
  CAIRN_ASSIGN_OR_RETURN(const Candidate behind, LookAt(chunk.end));
  return behind.kind != Candidate::Kind::kNothing;
}

absl::Status ChunkScanner::TakeChunk(const Candidate& chunk) {
  CAIRN_ASSIGN_OR_RETURN(const bool layer, IsLayerValue(chunk));
  if (layer) {
    position_ = chunk.end;
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const bool likely, IsLikely(chunk));
  if (!likely) {
    position_ = chunk.begin + 1;
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, window_.Read(chunk.begin, chunk.header.cbytes));
  const int64_t decoded = probe_.decoded();
  const absl::Status status = probe_.TryDecoding(bytes);
  if (!status.ok()) {
    CAIRN_RETURN_IF_ERROR(Spend(chunk.header.cbytes + probe_.decoded() - decoded));
    return PassBrokenChunk(chunk, status);
  }
  CAIRN_RETURN_IF_ERROR(CloseGap(chunk.begin));
  result_.chunks.push_back({.begin = chunk.begin, .header = chunk.header});
  GoOnAt(chunk.end);
  return absl::OkStatus();
}

absl::Status ChunkScanner::PassBrokenChunk(const Candidate& chunk, const absl::Status& damage) {
  position_ = chunk.begin + 1;
  if (!IsExpected(chunk)) return absl::OkStatus();
  const std::string reason = BrokenChunk(chunk.header.cbytes, damage.message());
  CAIRN_ASSIGN_OR_RETURN(const Candidate behind, LookAt(chunk.end));
  if (behind.kind == Candidate::Kind::kNothing) {
    gap_reason_ = reason;
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(CloseGap(chunk.begin));
  AddLost(chunk.begin, chunk.end, reason);
  GoOnAt(chunk.end);
  return absl::OkStatus();
}

absl::Status ChunkScanner::Spend(int64_t bytes) {
  if (budget_.Spend(bytes)) return absl::OkStatus();
  return ResourceExhausted("too much of the file, around byte %d, looks like chunks and is none",
                           position_);
}

absl::StatusOr<std::string> ChunkScanner::ReasonOfGap(int64_t end) {
  if (!gap_reason_.empty()) return std::exchange(gap_reason_, {});
  CAIRN_ASSIGN_OR_RETURN(const Bytes head, window_.ReadUpTo(gap_begin_, ChunkDetector::kPeek));
  const auto cut = probe_.Peek(head, std::numeric_limits<int64_t>::max());
  if (cut.has_value() && cut->cbytes > window_.size() - gap_begin_) {
    return BrokenChunk(cut->cbytes, absl::StrCat("the file ends at byte ", window_.size()));
  }
  for (int64_t at = gap_begin_; at < end; at += kStep) {
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, window_.Read(at, std::min(kStep, end - at)));
    if (!IsRunOfZeros(bytes)) return "no chunk begins here";
  }
  return "zeros";
}

absl::Status ChunkScanner::CloseGap(int64_t end) {
  if (gap_begin_ == end) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(std::string reason, ReasonOfGap(end));
  AddLost(gap_begin_, end, std::move(reason));
  gap_begin_ = end;
  return absl::OkStatus();
}

void ChunkScanner::AddLost(int64_t begin, int64_t end, std::string reason) {
  result_.lost.push_back({.begin = begin, .end = end, .reason = std::move(reason)});
}

}  // namespace cairn::frame
