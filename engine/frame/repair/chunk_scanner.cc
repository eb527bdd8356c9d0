#include "engine/frame/repair/chunk_scanner.h"

#include <algorithm>
#include <limits>
#include <variant>

#include "absl/strings/str_cat.h"

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/msgpack.h"

namespace cairn::frame {

namespace {

constexpr int64_t kStep = 1 << 16;

// The most that chunks which fail to decode may cost together, in multiples of the size of the
// file.
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

absl::StatusOr<Bytes> ReadUpTo(const FrameView& file, int64_t offset, int64_t size,
                               ScratchBuffer& scratch) {
  return file.Read(offset, std::min(size, file.size() - offset), scratch);
}

ChunkScanner::ChunkScanner(const FrameView& file, ChunkDetector& detector,
                           std::vector<Extent> known)
    : file_(file),
      detector_(detector),
      known_(std::move(known)),
      budget_(std::max(file.size(), kFewBytes), kMaxFailures) {}

absl::StatusOr<ScanResult> ChunkScanner::Run(int64_t begin,
                                             absl::FunctionRef<bool(int64_t)> progress) {
  ContinueAt(begin);
  for (;;) {
    CAIRN_ASSIGN_OR_RETURN(const Candidate next, FindNext(progress));
    if (next.kind == Candidate::Kind::kEndOfFile) break;
    if (next.kind == Candidate::Kind::kRecord) {
      CAIRN_RETURN_IF_ERROR(TakeRecord(next));
    } else if (next.kind == Candidate::Kind::kChunk) {
      CAIRN_RETURN_IF_ERROR(TakeChunk(next));
    } else {
      // A checkpoint has made a chunk of the pending items.
      result_.pending.clear();
      if (!result_.chunks.empty()) result_.first_end = std::min(result_.first_end, next.begin);
      CAIRN_RETURN_IF_ERROR(CloseGap(next.begin));
      ContinueAt(next.end);
    }
  }
  CAIRN_RETURN_IF_ERROR(CloseGap(file_.size()));
  return std::move(result_);
}

// Returns the number of the first known extent that begins there or later.
size_t ChunkScanner::NextKnown(int64_t from) const {
  return static_cast<size_t>(std::ranges::lower_bound(known_, from, {}, &Extent::begin) -
                             known_.begin());
}

ChunkScanner::Candidate ChunkScanner::Classify(Bytes head, int64_t at) const {
  Candidate candidate;
  candidate.begin = at;
  const size_t known = NextKnown(at);
  if (known < known_.size() && known_[known].begin == at) {
    candidate.kind = Candidate::Kind::kKnown;
    candidate.end = known_[known].end;
  } else if (const auto record = format::FindRecordHead(head);
             record.has_value() && record->size <= file_.size() - at) {
    candidate.kind = Candidate::Kind::kRecord;
    candidate.end = at + record->size;
  } else if (const auto header = detector_.Peek(head, file_.size() - at); header.has_value()) {
    candidate.kind = Candidate::Kind::kChunk;
    candidate.end = at + header->cbytes;
    candidate.header = *header;
  }
  return candidate;
}

absl::StatusOr<ChunkScanner::Candidate> ChunkScanner::ClassifyAt(int64_t at) {
  if (at == file_.size()) return Candidate{.kind = Candidate::Kind::kEndOfFile};
  CAIRN_ASSIGN_OR_RETURN(const Bytes head, ReadUpTo(file_, at, ChunkDetector::kPeek, scratch_));
  return Classify(head, at);
}

absl::StatusOr<ChunkScanner::Candidate> ChunkScanner::FindNext(
    absl::FunctionRef<bool(int64_t)> progress) {
  int64_t from = position_;
  while (from < file_.size()) {
    if (!progress(from)) return absl::CancelledError("salvage: stopped");
    if (from - window_begin_ >= std::min<int64_t>(std::ssize(window_), kStep)) {
      CAIRN_ASSIGN_OR_RETURN(window_,
                             ReadUpTo(file_, from, kStep + ChunkDetector::kPeek, window_memory_));
      window_begin_ = from;
    }
    const size_t places = std::min(window_.size(), static_cast<size_t>(kStep));
    const size_t known = NextKnown(from);
    const int64_t known_begin = known < known_.size() ? known_[known].begin : file_.size();
    for (auto i = static_cast<size_t>(from - window_begin_); i < places; ++i) {
      const int64_t at = window_begin_ + static_cast<int64_t>(i);
      if (at != known_begin && !MayBegin(window_[i])) continue;
      const Bytes rest = window_.subspan(i);
      const Candidate candidate = Classify(
          rest.first(std::min(rest.size(), static_cast<size_t>(ChunkDetector::kPeek))), at);
      if (candidate.kind != Candidate::Kind::kNothing) return candidate;
    }
    from = window_begin_ + static_cast<int64_t>(places);
  }
  return Candidate{.kind = Candidate::Kind::kEndOfFile};
}

void ChunkScanner::TakeCommit(const format::CommitRecord& commit) {
  const format::PartialEdit& edit = commit.partial;
  if (edit.replaces) {
    result_.pending.clear();
    result_.replaces_pending = true;
    result_.pending_head = edit.head;
  }
  result_.pending.insert(result_.pending.end(), edit.items.begin(), edit.items.end());
  if (commit.totals.has_value()) result_.nchunks = commit.totals->nchunks;
  for (const format::ChunkEdit& chunk : commit.chunks) {
    if (const auto* insert = std::get_if<format::InsertEdit>(&chunk)) {
      result_.first_insert = std::min(result_.first_insert, insert->nchunk);
    } else if (!std::holds_alternative<format::EraseEdit>(chunk)) {
      result_.changes_chunks = true;
    }
  }
}

absl::Status ChunkScanner::TakeRecord(const Candidate& record) {
  const int64_t size = record.end - record.begin;
  CAIRN_RETURN_IF_ERROR(Spend(size));
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file_.Read(record.begin, size, scratch_));
  if (!format::ChecksumMatches(bytes)) {
    position_ = record.begin + 1;
    return absl::OkStatus();
  }
  const absl::StatusOr<format::CommitRecord> commit = format::ParseCommit(bytes, record.begin);
  if (commit.ok()) {
    TakeCommit(*commit);
    if (!result_.chunks.empty()) result_.first_end = std::min(result_.first_end, record.begin);
    result_.pending_record = {record.begin, record.end};
  }
  CAIRN_RETURN_IF_ERROR(CloseGap(record.begin));
  ContinueAt(record.end);
  return absl::OkStatus();
}

// Values of vlmetalayers are chunks too. The bytes before them are their length in msgpack, even if
// the rest of the trailer is lost.
absl::StatusOr<bool> ChunkScanner::IsLayerValue(const Candidate& chunk) {
  std::byte before[5] = {std::byte{format::msgpack::kBin32}};
  StoreBe(before + 1, static_cast<uint32_t>(chunk.header.cbytes));
  const int64_t begin = chunk.begin - std::ssize(before);
  if (begin < 0) return false;
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file_.Read(begin, std::ssize(before), scratch_));
  return std::ranges::equal(bytes, before);
}

// A 16-byte memcpyed header has no redundancy, so stale bytes often pass for one. Outside a run of
// chunks it is accepted only if something recognisable follows.
absl::StatusOr<bool> ChunkScanner::IsLikely(const Candidate& chunk) {
  if (IsExpected(chunk) || chunk.header.extended) return true;
  CAIRN_ASSIGN_OR_RETURN(const Candidate next, ClassifyAt(chunk.end));
  return next.kind != Candidate::Kind::kNothing;
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
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file_.Read(chunk.begin, chunk.header.cbytes, scratch_));
  const int64_t decoded = detector_.decoded();
  const absl::Status status = detector_.TryDecoding(bytes);
  if (!status.ok()) {
    CAIRN_RETURN_IF_ERROR(Spend(chunk.header.cbytes + detector_.decoded() - decoded));
    return SkipBrokenChunk(chunk, status);
  }
  CAIRN_RETURN_IF_ERROR(CloseGap(chunk.begin));
  result_.chunks.push_back({.begin = chunk.begin, .header = chunk.header});
  ContinueAt(chunk.end);
  return absl::OkStatus();
}

absl::Status ChunkScanner::SkipBrokenChunk(const Candidate& chunk, const absl::Status& damage) {
  position_ = chunk.begin + 1;
  if (!IsExpected(chunk)) return absl::OkStatus();
  const std::string reason = BrokenChunk(chunk.header.cbytes, damage.message());
  CAIRN_ASSIGN_OR_RETURN(const Candidate next, ClassifyAt(chunk.end));
  if (next.kind == Candidate::Kind::kNothing) {
    gap_reason_ = reason;
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(CloseGap(chunk.begin));
  result_.lost.push_back({.begin = chunk.begin, .end = chunk.end, .reason = reason});
  ContinueAt(chunk.end);
  return absl::OkStatus();
}

absl::Status ChunkScanner::Spend(int64_t bytes) {
  if (budget_.Spend(bytes)) return absl::OkStatus();
  return ResourceExhausted("scan budget exceeded near byte %d: too many false chunk headers",
                           position_);
}

absl::StatusOr<std::string> ChunkScanner::ReasonOfGap(int64_t end) {
  if (!gap_reason_.empty()) return std::exchange(gap_reason_, {});
  CAIRN_ASSIGN_OR_RETURN(const Bytes head,
                         ReadUpTo(file_, gap_begin_, ChunkDetector::kPeek, scratch_));
  const auto cut = detector_.Peek(head, std::numeric_limits<int64_t>::max());
  if (cut.has_value() && cut->cbytes > file_.size() - gap_begin_) {
    return BrokenChunk(cut->cbytes, absl::StrCat("the file ends at byte ", file_.size()));
  }
  for (int64_t at = gap_begin_; at < end; at += kStep) {
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file_.Read(at, std::min(kStep, end - at), scratch_));
    if (!IsRunOfZeros(bytes)) return "no chunk begins here";
  }
  return "zeros";
}

absl::Status ChunkScanner::CloseGap(int64_t end) {
  if (gap_begin_ == end) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(std::string reason, ReasonOfGap(end));
  result_.lost.push_back({.begin = gap_begin_, .end = end, .reason = std::move(reason)});
  gap_begin_ = end;
  return absl::OkStatus();
}

}  // namespace cairn::frame
