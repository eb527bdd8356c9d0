#include "engine/frame/layout/relocation.h"

#include <algorithm>
#include <optional>

#include "engine/base/scratch_buffer.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"

namespace cairn::frame {

namespace {

constexpr int64_t kMostBytes = int64_t{1} << 20;
// Chunks that a commit looks at, and chunks for each of its own edits. A checkpoint follows at the
// latest when an eighth of the chunks was edited, so a journal looks at all chunks.
constexpr int64_t kLooks = 64;
constexpr int64_t kLooksForEdit = 16;

int64_t BytesOf(const std::vector<Extent>& extents) {
  int64_t bytes = 0;
  for (const Extent& extent : extents) bytes += extent.size();
  return bytes;
}

}  // namespace

void Relocation::Begin(const FreeSpace::Slack& slack) {
  FrameSpace& space = journal_.tail().space();
  line_ = space.enabled() ? space.free().SetLine(slack, space.dead()) : INT64_MAX;
  left_ = line_ == INT64_MAX ? 0 : frame_.state->chunks.size();
}

absl::Status Relocation::StageSome(Stager& stager) {
  if (!journal_.tail().space().free().MoveLine(kLooks) || left_ <= 0) return absl::OkStatus();
  return StageMoves(stager,
                    std::clamp<int64_t>(BytesOf(journal_.tail().sink().placed()), 1, kMostBytes),
                    kLooks + kLooksForEdit * stager.staged().chunk_edits.count());
}

absl::StatusOr<bool> Relocation::StageAll(Stager& stager) {
  journal_.tail().space().free().MoveLine(INT64_MAX);
  moves_others_ = true;
  moved_others_ = false;
  const absl::Status status = StageMoves(stager, INT64_MAX, INT64_MAX);
  moves_others_ = false;
  CAIRN_RETURN_IF_ERROR(status);
  return moved_others_;
}

absl::Status Relocation::StageMoves(Stager& stager, int64_t bytes, int64_t looks) {
  const ChunkIndex& chunks = stager.staged().chunks;
  const int64_t header_len = frame_.state->header().header_len;
  for (; looks > 0 && left_ > 0 && bytes > 0; --looks, --left_, ++next_) {
    if (next_ >= chunks.size()) next_ = 0;
    if (chunks.size() == 0) return absl::OkStatus();
    const absl::StatusOr<FoundEntry> found = chunks.Find(next_);
    // Chunks of commits since the checkpoint move after the next checkpoint.
    if (!found.ok() || found->committed < 0 || found->entry.value < line_ - header_len) continue;
    CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, chunks.Get(next_));
    CAIRN_ASSIGN_OR_RETURN(const bool moved, Move(stager, next_, entry));
    if (moved) bytes -= entry.cbytes;
  }
  return absl::OkStatus();
}

// Returns false if the chunk stays where it is. A chunk that cannot be read, or that does not match
// its fingerprint, stays: a copy would make damage look intact.
absl::StatusOr<bool> Relocation::Move(Stager& stager, int64_t nchunk, IndexEntry entry) {
  const bool is_others = !HasBytesOfItsOwn(entry);
  if (is_others) {
    if (!moves_others_ || format::IsSpecialEntry(entry.value)) return false;
    ScratchBuffer scratch;
    const absl::StatusOr<chunk::Header> header =
        frame_.state->chunk_source->ReadHeader(entry.value, scratch);
    if (!header.ok()) return false;
    entry.cbytes = header->cbytes;
  }
  ExtentPool& free = journal_.tail().space().free().pool();
  const std::optional<int64_t> position = free.TakeBeforeLine(entry.cbytes);
  if (!position.has_value()) return false;
  const Extent place = {*position, *position + entry.cbytes};
  CAIRN_ASSIGN_OR_RETURN(const bool may_reuse, journal_.unsynced().MayReuse());
  if (!may_reuse) {
    free.Add(place);
    return false;
  }
  const int64_t header_len = frame_.state->header().header_len;
  chunk_.resize(static_cast<size_t>(entry.cbytes));
  absl::Status status = frame_.file->ReadAt(header_len + entry.value, chunk_);
  const bool intact =
      status.ok() && (entry.fingerprint == 0 || format::HashChunk(chunk_) == entry.fingerprint);
  if (intact) status = frame_.file->WriteAt(place.begin, chunk_);
  // Free space may lie in holes: a full disk has no room there.
  if (!intact || absl::IsResourceExhausted(status)) {
    free.Add(place);
    return false;
  }
  CAIRN_RETURN_IF_ERROR(status);
  journal_.tail().sink().NotePlaced(place);
  entry.value = place.begin - header_len;
  CAIRN_RETURN_IF_ERROR(stager.MoveChunk(nchunk, entry));
  moved_others_ = moved_others_ || is_others;
  return true;
}

}  // namespace cairn::frame
