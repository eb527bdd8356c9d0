#include "engine/frame/layout/space_reclaimer.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/base/extent.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/frame/checkpoint/checkpoint_encoder.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/files/holes.h"
#include "engine/frame/open/history.h"
#include "engine/frame/open/state_loader.h"

namespace cairn::frame {

namespace {

// Returns the bytes before the checkpoint's end that do not belong to its header, index, trailer or
// chunks, in order. Commits that follow it may have chunks there.
absl::StatusOr<std::vector<Extent>> UnusedExtents(const State& checkpoint) {
  const int64_t header_len = checkpoint.header().header_len;
  const Extent trailer = checkpoint.checkpoint->trailer;
  const Extent last = checkpoint.index().size() > 0 ? checkpoint.index() : trailer;
  std::vector<Extent> live = {{0, header_len}, {last.begin, trailer.end}};
  ScratchBuffer scratch;
  CAIRN_RETURN_IF_ERROR(checkpoint.chunks.ForEach([&](const IndexEntry& entry) -> absl::Status {
    if (format::IsSpecialEntry(entry.value)) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const chunk::Header header,
                           checkpoint.chunk_source->ReadHeader(entry.value, scratch));
    const int64_t begin = header_len + entry.value;
    live.push_back({begin, begin + header.cbytes});
    return absl::OkStatus();
  }));
  std::ranges::sort(live, {}, &Extent::begin);
  std::vector<Extent> unused;
  int64_t end = 0;
  for (const Extent& extent : live) {
    if (extent.begin > end) unused.push_back({end, extent.begin});
    end = std::max(end, extent.end);
  }
  return unused;
}

}  // namespace

// Returns the generation of the oldest checkpoint to keep, or nothing if all must be kept.
absl::StatusOr<std::optional<uint64_t>> SpaceReclaimer::OldestKept(
    const ReclaimOptions& options) const {
  CAIRN_ASSIGN_OR_RETURN(
      StatePtr kept,
      LoadCheckpoint(frame_.source, base().checkpoint->header_bytes, frame_.core->env()));
  const uint64_t newest = base().generation();
  while (kept != nullptr && newest - kept->generation() < options.keep_generations) {
    CAIRN_ASSIGN_OR_RETURN(
        kept, PreviousCheckpoint(frame_.source, *kept, base().checkpoint->seal->oldest_generation));
  }
  return kept == nullptr ? std::nullopt : std::optional<uint64_t>(kept->generation());
}

// Returns true if a reader holds an older generation.
absl::StatusOr<bool> SpaceReclaimer::IsReadBefore(uint64_t oldest) const {
  return frame_.file->IsLocked(kReaderLockByte, static_cast<int64_t>(oldest));
}

// Returns true if a reader holds a higher generation: one from before the seal was lost and the
// numbers began again.
absl::StatusOr<bool> SpaceReclaimer::IsReadAfter(uint64_t newest) const {
  return frame_.file->IsLocked(ReaderLockByte(newest + 1),
                               static_cast<int64_t>(format::kMaxGeneration - newest));
}

// Writes a checkpoint that says, durably, that the states before this generation are gone.
absl::Status SpaceReclaimer::ForgetBefore(uint64_t oldest_generation) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<Stager> stager, backend_.Stage());
  CAIRN_RETURN_IF_ERROR(Finish(*stager));
  return commit_in_place_(stager->staged(), oldest_generation);
}

// Finds all bytes that the newest checkpoint does not need. No commit follows it.
absl::Status SpaceReclaimer::FindFree() {
  CAIRN_ASSIGN_OR_RETURN(const bool is_read_after, IsReadAfter(base().generation()));
  if (is_read_after) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const bool is_read_before, IsReadBefore(base().generation()));
  CAIRN_ASSIGN_OR_RETURN(
      const StatePtr newest,
      LoadCheckpoint(frame_.source, base().checkpoint->header_bytes, frame_.core->env()));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<Extent> unused, UnusedExtents(*newest));
  journal_.tail().space().SetUnused(unused, is_read_before);
  journal_.tail().SetRoom();
  return absl::OkStatus();
}

// Returns false if there was nothing to move. Otherwise writes a checkpoint that says where the
// chunks are now.
absl::StatusOr<bool> SpaceReclaimer::MoveChunksDown(const FreeSpace::Slack& slack) {
  CAIRN_RETURN_IF_ERROR(journal_.remains().TidyUpAll());
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<Stager> stager, backend_.Stage());
  relocation_.Begin(slack);
  CAIRN_ASSIGN_OR_RETURN(const bool moved_others, relocation_.StageAll(*stager));
  if (!stager->staged().edited) return false;
  CAIRN_RETURN_IF_ERROR(Finish(*stager));
  CAIRN_RETURN_IF_ERROR(commit_in_place_(stager->staged(), base().generation() + 1));
  stager.reset();  // it reads the state before
  if (moved_others) CAIRN_RETURN_IF_ERROR(FindFree());
  return true;
}

// Moves chunks twice, and the index if that helps. A chunk that did not fit the first time has more
// room the second time, because the first moves joined free places.
absl::Status SpaceReclaimer::Shrink() {
  CAIRN_ASSIGN_OR_RETURN(const bool moved,
                         MoveChunksDown({.part = 16, .least = kPageSize, .for_commits = false}));
  if (moved) {
    CAIRN_RETURN_IF_ERROR(
        MoveChunksDown({.part = 8, .least = 2 * kPageSize, .for_commits = false}).status());
  }
  CAIRN_RETURN_IF_ERROR(journal_.remains().TidyUpAll());
  return placer_.CanShrink() ? ForgetBefore(base().generation() + 1) : absl::OkStatus();
}

// Frees everything except the bytes that readers see.
absl::StatusOr<ReclaimReport> SpaceReclaimer::Reclaim(const ReclaimOptions& options) {
  // Fails before any state is given up if the file system cannot punch holes.
  CAIRN_RETURN_IF_ERROR(frame_.file->PunchHole(0, 0));
  const bool keeps = options.keep_generations > 0;
  if (!FitsInPlace(StagedState(base()))) {
    if (!keeps) return ReclaimByRewriting();
    // Only a new file could free anything, and would lose all older states.
    return ReclaimReport{.oldest_generation = base().checkpoint->seal_holds
                                                  ? base().checkpoint->seal->oldest_generation
                                                  : base().generation()};
  }
  // The next checkpoint must have a seal too: commits may have added too many layers for that.
  if (!base().checkpoint->seal_holds || !HasRoomForSeal(StagedState(base()))) {
    return Unimplemented("the frame has no seal that tells its history");
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, frame_.file->AllocatedSize());
  if (!keeps && (!base().journal->empty() ||
                 base().checkpoint->seal->oldest_generation < base().generation())) {
    CAIRN_RETURN_IF_ERROR(ForgetBefore(base().generation() + 1));
  }
  CAIRN_ASSIGN_OR_RETURN(const std::optional<uint64_t> oldest, OldestKept(options));
  ReclaimReport report{.oldest_generation = base().checkpoint->seal->oldest_generation};
  if (!oldest.has_value()) return report;
  if (report.oldest_generation < *oldest) CAIRN_RETURN_IF_ERROR(ForgetBefore(*oldest));
  if (!keeps) {
    CAIRN_RETURN_IF_ERROR(FindFree());
    // A full disk has no room to move anything.
    const absl::Status status = Shrink();
    if (!status.ok() && !absl::IsResourceExhausted(status)) return status;
    if (!status.ok()) CAIRN_RETURN_IF_ERROR(backend_.Restart(true));
  }
  CAIRN_RETURN_IF_ERROR(journal_.remains().TidyUpAll());
  journal_.tail().NoteHoles();
  for (const Extent& free : journal_.tail().space().free().pool().List()) {
    CAIRN_RETURN_IF_ERROR(PunchPages(free, *frame_.file));
  }
  hold_reserve_();
  const format::Seal& seal = *base().checkpoint->seal;
  report.oldest_generation = seal.oldest_generation;
  CAIRN_ASSIGN_OR_RETURN(report.blocked, IsReadBefore(seal.oldest_generation));
  if (!report.blocked) {
    CAIRN_ASSIGN_OR_RETURN(report.blocked, IsReadAfter(base().generation()));
  }
  if (report.blocked) {
    CAIRN_ASSIGN_OR_RETURN(report.holders, FindHolders(*frame_.file, seal.oldest_generation));
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t after, frame_.file->AllocatedSize());
  report.freed = std::max<int64_t>(before - after, 0);
  return report;
}

// Writes a new file, which has no dead bytes. An empty frame needs this, for example, unless it is
// such a file already.
absl::StatusOr<ReclaimReport> SpaceReclaimer::ReclaimByRewriting() {
  const bool is_small = base().checkpoint->trailer.begin == base().header().header_len;
  if (is_small && base().journal.has_value() && base().journal->empty()) {
    return ReclaimReport{.oldest_generation = base().generation()};
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, frame_.file->AllocatedSize());
  CAIRN_RETURN_IF_ERROR(backend_.Rewrite(nullptr, NeverStop).status());
  CAIRN_ASSIGN_OR_RETURN(const int64_t after, frame_.file->AllocatedSize());
  return ReclaimReport{.freed = std::max<int64_t>(before - after, 0),
                       .oldest_generation = base().generation()};
}

}  // namespace cairn::frame
