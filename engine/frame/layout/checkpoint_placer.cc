#include "engine/frame/layout/checkpoint_placer.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/checkpoint/commit_failures.h"
#include "engine/frame/journal/background_checkpoint.h"
#include "engine/frame/space/disk_reserve.h"

namespace cairn::frame {

namespace {

// A shrinking checkpoint leaves this many bytes of its room for the commits after it.
constexpr int64_t kLeastJournal = int64_t{4} << 10;

// A frame that takes this many times its live bytes must get shorter.
constexpr int64_t kMostTimes = 2;

}  // namespace

bool FitsInPlace(const StagedState& staged) {
  return staged.nbytes() > 0 && ChangedHeaderBytes(staged) <= kSectorSize;
}

absl::Status PersistOwed(JournalWriter& journal) {
  journal.unsynced().AvoidSyncs(false);
  return journal.unsynced().MayReuse().status();
}

bool CheckpointPlacer::MayBeAbove() const {
  const int64_t end = journal_.tail().end();
  return journal_.remains().end() <= end && journal_.tail().space().LimitFrom(end) == INT64_MAX;
}

std::optional<Extent> CheckpointPlacer::RoomBelow() const {
  const FrameSpace& space = journal_.tail().space();
  if (!space.free().TakesTimes(kMostTimes, frame_.core->env()->checkpoints.least_free)) {
    return std::nullopt;
  }
  return space.RoomBelow(BackgroundCheckpoint::LeastRoom(base(), space));
}

bool CheckpointPlacer::CanShrink() const {
  const StagedState staged(base());
  const uint64_t generation = base().generation() + 1;
  const int64_t end = journal_.tail().end();
  const NextCheckpointSpace next(journal_.tail().space(), generation, end);
  const int64_t list = next.after().MostListed(generation, end);
  return next.FindBelow(NeedOf(staged, base()).index + list + kLeastJournal).has_value();
}

// Returns the bytes that a checkpoint after the journal leaves: Reclaim may begin with another one
// of the same entries.
int64_t CheckpointPlacer::KeptAfter(const StagedState& staged, int64_t end) const {
  constexpr int64_t kMargin = 128;
  const int64_t size = end - journal_.tail().end() + kMargin;
  return NeedAfter(staged, base(), size, frame_.keeps_history());
}

// Reserves space for a checkpoint and `kept` bytes after it, also where the file has a hole.
absl::Status CheckpointPlacer::Reserve(const PlacedCheckpoint& placed, int64_t kept) {
  const absl::Status status =
      frame_.file->Allocate(placed.begin, placed.end() + kept - placed.begin);
  return absl::IsResourceExhausted(status) ? Refuse(DiskIsFull(status, kept)) : absl::OkStatus();
}

// Returns the most bytes that the index and the trailer take.
int64_t CheckpointPlacer::MostBytes(const StagedState& staged, const NextCheckpointSpace& space,
                                    const CheckpointPlan& plan) const {
  return NeedOf(staged, base()).index +
         space.after().MostListed(plan.seal.generation, journal_.tail().end());
}

absl::StatusOr<PlacedCheckpoint> CheckpointPlacer::PlaceAt(int64_t begin, const StagedState& staged,
                                                           NextCheckpointSpace space,
                                                           CheckpointPlan plan) const {
  space.PlaceIndex(begin);
  plan.index_begin = begin;
  plan.seal.space = space.after().List();
  CAIRN_ASSIGN_OR_RETURN(CheckpointBytes bytes, EncodeCheckpoint(staged, plan));
  return PlacedCheckpoint{.begin = begin, .bytes = std::move(bytes), .space = std::move(space)};
}

// Places a checkpoint in free space that only old states follow, which makes the frame shorter.
// Returns nothing if there is no room.
absl::StatusOr<std::optional<PlacedCheckpoint>> CheckpointPlacer::PlaceBelow(
    const StagedState& staged, const NextCheckpointSpace& space, CheckpointPlan plan,
    int64_t room_for_chunks) const {
  const bool forgets = plan.seal.oldest_generation == plan.seal.generation;
  if (!forgets || !space.after().enabled() || !HasRoomForSeal(staged)) return std::nullopt;
  const std::optional<Extent> room =
      space.FindBelow(room_for_chunks + MostBytes(staged, space, plan) + kLeastJournal);
  if (!room.has_value()) return std::nullopt;
  plan.seal.previous_end = 0;
  CAIRN_ASSIGN_OR_RETURN(PlacedCheckpoint placed,
                         PlaceAt(room->begin + room_for_chunks, staged, space, plan));
  if (placed.end() + format::kEndMark > room->end) return std::nullopt;
  return placed;
}

// Places a checkpoint after the journal, with room for one more if it can: the next checkpoint can
// be made during commits only if nothing follows this one.
absl::StatusOr<PlacedCheckpoint> CheckpointPlacer::PlaceAbove(const StagedState& staged,
                                                              NextCheckpointSpace space,
                                                              const CheckpointPlan& plan) const {
  const int64_t size = 2 * MostBytes(staged, space, plan) + kLeastJournal;
  const int64_t begin = space.FindAbove(size, kMostTimes);
  CAIRN_ASSIGN_OR_RETURN(PlacedCheckpoint placed, PlaceAt(begin, staged, std::move(space), plan));
  if (placed.end() + format::kEndMark <= placed.space.after().LimitFrom(begin)) return placed;
  const int64_t after_dead = std::max(placed.space.journal_end(), placed.space.after().EndOfDead());
  return PlaceAt(after_dead, staged, std::move(placed.space), plan);
}

// Writes index and trailer. A full disk refuses it: nothing leads there yet.
absl::Status CheckpointPlacer::Write(const PlacedCheckpoint& placed) {
  absl::Status status = frame_.file->WriteAt(placed.begin, placed.bytes.tail);
  const int64_t end = placed.end();
  const int64_t remains_end = std::max(journal_.remains().end(), journal_.tail().end());
  if (status.ok() && remains_end > end) status = journal_.remains().MarkEnd(end);
  return absl::IsResourceExhausted(status) ? Refuse(std::move(status)) : status;
}

// Tries free space first. That may lie in holes, for which a full disk has no room, or none for the
// commit after it. The checkpoint then goes after the journal, where its space is reserved.
absl::StatusOr<PlacedCheckpoint> CheckpointPlacer::Place(const StagedState& staged,
                                                         const Options& options) {
  CheckpointPlan plan = frame_.PlanCheckpoint(journal_.tail().end(), false);
  plan.seal.oldest_generation = options.oldest_generation.value_or(plan.seal.oldest_generation);
  NextCheckpointSpace space(journal_.tail().SpaceWith(staged), plan.seal.generation,
                            journal_.tail().EndWithMark());
  // Until the header says which generations are gone, readers may still come to them.
  const bool sealed = base().checkpoint->seal_holds;
  space.Release(*frame_.file, sealed ? base().checkpoint->seal->oldest_generation : 0);
  CAIRN_ASSIGN_OR_RETURN(std::optional<PlacedCheckpoint> below,
                         PlaceBelow(staged, space, plan, options.room_for_chunks));
  if (below.has_value()) {
    absl::Status written = Reserve(*below, RoomForNext(staged, base()));
    if (written.ok()) written = Write(*below);
    if (written.ok()) return *std::move(below);
    if (!absl::IsResourceExhausted(written)) return written;
  }
  CAIRN_ASSIGN_OR_RETURN(PlacedCheckpoint above, PlaceAbove(staged, std::move(space), plan));
  CAIRN_RETURN_IF_ERROR(journal_.tail().ReserveWithFree(
      [&] { return Reserve(above, KeptAfter(staged, above.end())); }));
  CAIRN_RETURN_IF_ERROR(Write(above));
  return above;
}

}  // namespace cairn::frame
