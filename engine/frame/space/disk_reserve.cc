#include "engine/frame/space/disk_reserve.h"

#include <algorithm>

#include "cairn/chunk.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/format/seal.h"

namespace cairn::frame {

namespace {

// Bytes of one step of the space that is reserved ahead. A step is at most a thirty-second part of
// the file, unless that is less than the least step.
constexpr int64_t kLeastStep = int64_t{1} << 19;
constexpr int64_t kMostStep = int64_t{64} << 20;

// Bytes for headers of chunks, for names and counts of a trailer, and for the fields of a seal.
constexpr int64_t kFraming = 512;
// Bytes for the record of a commit that deletes, and for the rest of the last block of the disk.
constexpr int64_t kBlock = 4096;

int64_t BytesOf(const std::vector<VlMetalayer>& layers) {
  int64_t size = 0;
  for (const VlMetalayer& layer : layers) {
    size += std::ssize(layer.chunk.bytes()) + std::ssize(layer.name) + 16;
  }
  return size;
}

// Returns the most bytes of a chunk that has only zeros after its first bytes. In a block of zeros,
// each stream takes the four bytes of its size.
int64_t MaxPaddedSize(const PartialChunk& partial, int64_t blocksize, int32_t typesize) {
  const int64_t nblocks = CeilDiv(partial.nbytes(), blocksize);
  return kFraming + CeilDiv(partial.filled(), blocksize) * blocksize +
         nblocks * (1 + chunk::HeaderTypesize(typesize)) * 4;
}

int32_t TypesizeOf(const StagedState& frame) { return frame.header.typesize; }
int32_t TypesizeOf(const State& frame) { return frame.header().typesize; }

// Returns the most bytes of the pending items as a chunk, including its entry in the index.
template <typename T>
int64_t PendingBytes(const T& frame) {
  constexpr int64_t kEntry = 64;
  const PartialChunk& partial = frame.partial;
  if (partial.empty()) return 0;
  auto most = static_cast<int64_t>(MaxCompressedSize(static_cast<size_t>(partial.nbytes())));
  const std::optional<ArrayInfo>& array = frame.metadata->array;
  if (partial.is_padded() && array.has_value() && array->blockshape[0] > 0) {
    const int64_t blocksize = int64_t{array->blockshape[0]} * TypesizeOf(frame);
    most = std::min(most, MaxPaddedSize(partial, blocksize, TypesizeOf(frame)));
  }
  return most + kEntry;
}

// Returns about how many bytes a state takes without dead bytes.
template <typename T>
int64_t LiveBytes(const T& frame, int64_t chunk_bytes) {
  constexpr int64_t kEntry = 8;
  return chunk_bytes + kEntry * frame.chunks.size() + PendingBytes(frame) +
         BytesOf(frame.metadata->vlmetalayers);
}

// Returns the bytes of a commit that deletes and its checkpoint and, if history is kept, of the
// checkpoint with which Reclaim begins.
int64_t NeedAtRest(const CheckpointNeed& need, bool keeps_history) {
  return (keeps_history ? 2 : 1) * need.index + need.pending + need.last_blocks + kBlock;
}

}  // namespace

bool Grows(const StagedState& staged, const State& base) {
  if (!staged.edited) return false;
  const bool is_known = staged.stored_bytes.has_value() && base.stored_bytes.has_value();
  const int64_t after = LiveBytes(staged, is_known ? *staged.stored_bytes : staged.nbytes());
  const int64_t before = LiveBytes(base, is_known ? *base.stored_bytes : base.nbytes);
  return after > before || (after == before && staged.chunk_edits.count() > 0);
}

CheckpointNeed NeedOf(const StagedState& staged, const State& base) {
  // For each chunk an entry of the index and one of the table of chunks. For each page of entries a
  // hash, and the position of its block.
  const int64_t entries = staged.nchunks();
  const int64_t raw = 20 * entries + 24 * (entries / format::kPageEntries + 1);
  // An index that compresses well, as one of special values does, takes far fewer bytes.
  const int64_t last = base.index().size() + base.checkpoint->trailer.size();
  const int64_t edits =
      staged.chunk_edits.count() + (base.journal.has_value() ? base.journal->edits : 0);
  const int64_t coded = 2 * last + 64 * edits + kFraming;
  CheckpointNeed need = {.index = std::min(raw, coded) + BytesOf(staged.metadata->vlmetalayers) +
                                  staged.header.header_len + kFraming,
                         .pending = PendingBytes(staged)};
  // Each is a file, whose last block is not full.
  if (staged.header.layout == Layout::kSparse) {
    need.last_blocks = kBlock;
    if (need.pending > 0) need.pending += kBlock;
  }
  return need;
}

int64_t NeedAfter(const StagedState& staged, const State& base, int64_t reclaim,
                  bool keeps_history) {
  if (!staged.edited) return 0;
  if (!Grows(staged, base)) return keeps_history ? reclaim : 0;
  return NeedAtRest(NeedOf(staged, base), keeps_history);
}

absl::Status DiskIsFull(const absl::Status& status, int64_t kept) {
  if (kept == 0) return status;
  return ResourceExhausted(
      "%s; %d of them are kept so that chunks can be deleted, and their space reclaimed",
      status.message(), kept);
}

absl::Status HoldAtRest(const State& base, File& file, int64_t end, bool keeps_history) {
  int64_t size = NeedAtRest(NeedOf(StagedState(base), base), keeps_history);
  absl::Status status = file.Allocate(end, size);
  if (!absl::IsResourceExhausted(status)) return absl::OkStatus();
  while (size > kFraming && !file.Allocate(end, size).ok()) size -= std::max(size / 8, kFraming);
  return status;
}

int64_t RoomForNext(const StagedState& staged, const State& base) {
  return NeedAtRest(NeedOf(staged, base), false);
}

// The bytes before the end of the file may be a hole that is used again.
absl::Status Headroom::Grow(File& file, int64_t begin, int64_t end) const {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file.Size());
  const int64_t from = std::max(begin, end_);
  if (from < size) {
    absl::Status status = file.Allocate(from, std::min(size, end) - from);
    if (absl::IsResourceExhausted(status)) return status;
  }
  return file.Reserve(end);
}

absl::Status Headroom::Extend(File& file, int64_t begin, int64_t end, int64_t kept, int64_t most) {
  if (end + kept <= end_) return absl::OkStatus();
  int64_t step = std::clamp(std::min(2 * step_, end / 32), kLeastStep, kMostStep);
  step = std::min(step, std::max<int64_t>(most - end - kept, 0));
  absl::Status status = Grow(file, begin, end + kept + step);
  while (absl::IsResourceExhausted(status) && step > 0) {
    step = step > kBlock ? step / 16 : 0;
    status = Grow(file, begin, end + kept + step);
  }
  if (absl::IsResourceExhausted(status)) return DiskIsFull(status, kept);
  if (!status.ok()) return absl::OkStatus();
  step_ = step;
  end_ = end + kept + step;
  return absl::OkStatus();
}

}  // namespace cairn::frame
