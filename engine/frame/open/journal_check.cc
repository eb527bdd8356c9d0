#include "engine/frame/open/journal_check.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/replay/summary.h"

namespace cairn::frame {

namespace {

// Returns true if two states of one checkpoint have the same chunks.
bool HaveSameChunks(const ChunkIndex& a, const ChunkIndex& b) {
  if (a.size() != b.size()) return false;
  int64_t nchunk = 0;
  const absl::Status status = a.ForEach([&](const IndexEntry& entry) {
    const absl::StatusOr<IndexEntry> other = b.Get(nchunk++);
    return other.ok() && *other == entry ? absl::OkStatus() : absl::CancelledError();
  });
  // An index that cannot be read is damage of its own.
  return !absl::IsCancelled(status);
}

bool HaveSameMetadata(const Metadata& a, const Metadata& b) {
  const auto is_same = [](const VlMetalayer& layer, const VlMetalayer& other) {
    return layer.name == other.name && std::ranges::equal(layer.chunk.bytes(), other.chunk.bytes());
  };
  return std::ranges::equal(a.metalayers, b.metalayers) &&
         std::ranges::equal(a.vlmetalayers, b.vlmetalayers, is_same);
}

bool AreSame(const State& a, const State& b) {
  return a.generation() == b.generation() && a.journal->last == b.journal->last &&
         a.nbytes == b.nbytes && a.chunksize == b.chunksize && a.vlblocks == b.vlblocks &&
         a.stored_bytes == b.stored_bytes && a.partial.head == b.partial.head &&
         a.partial.nbytes() == b.partial.nbytes() &&
         std::ranges::equal(a.partial.items.span(), b.partial.items.span()) &&
         HaveSameMetadata(*a.metadata, *b.metadata) && HaveSameChunks(a.chunks, b.chunks);
}

class JournalChecker {
 public:
  explicit JournalChecker(const State& state) : state_(state), source_(state.checkpoint->source) {}

  absl::StatusOr<JournalCheck> Run();

 private:
  // Returns the state that the commits after `begin`, up to `generation`, make of it.
  absl::StatusOr<StatePtr> Replay(StatePtr begin, uint64_t generation,
                                  const LoadedSummary* summary = nullptr) const;
  // Checks the summary in the slot.
  absl::Status CheckSummary(const format::SummarySlot& slot, const StatePtr& checkpoint,
                            const State& replayed) const;
  // The bytes after the state do not belong to it, unless damage ends it.
  uint64_t last() const { return state_.damage.has_value() ? UINT64_MAX : state_.generation(); }
  int64_t end() const { return state_.damage.has_value() ? INT64_MAX : state_.journal->end; }

  const State& state_;
  const FrameFile& source_;
};

absl::StatusOr<StatePtr> JournalChecker::Replay(StatePtr begin, uint64_t generation,
                                                const LoadedSummary* summary) const {
  JournalReader reader(source_, begin->journal->end);
  reader.StopAt(end());
  CAIRN_ASSIGN_OR_RETURN(
      const ReplayResult replayed,
      ReplayJournal(
          source_, *begin, reader,
          {.last_generation = generation, .search = SearchFor(source_, true), .summary = summary}));
  return StateAfter(std::move(begin), replayed);
}

absl::Status JournalChecker::CheckSummary(const format::SummarySlot& slot,
                                          const StatePtr& checkpoint, const State& replayed) const {
  CAIRN_ASSIGN_OR_RETURN(const LoadedSummary loaded, LoadSummary(source_, *checkpoint, slot));
  // After damage there is nothing to compare with.
  if (replayed.damage.has_value()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(StatePtr summed_up, Replay(checkpoint, slot.generation, &loaded));
  const bool is_used = summed_up->chunks.summary() == loaded.index.get();
  CAIRN_ASSIGN_OR_RETURN(summed_up, Replay(std::move(summed_up), last()));
  if (is_used && AreSame(*summed_up, replayed)) return absl::OkStatus();
  return DataLoss(
      "summary of the journal: at byte %d: the commits up to generation %d say another thing",
      slot.position, slot.generation);
}

absl::StatusOr<JournalCheck> JournalChecker::Run() {
  JournalCheck check;
  std::vector<format::SummarySlot> slots = FindSummaries(source_, state_, false);
  std::erase_if(slots, [&](const format::SummarySlot& slot) {
    return slot.generation > state_.generation();
  });
  // The two slots may name the same summary.
  const auto same_place = [](const format::SummarySlot& a, const format::SummarySlot& b) {
    return a.position == b.position;
  };
  slots.erase(std::unique(slots.begin(), slots.end(), same_place), slots.end());
  if (slots.empty()) return check;
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const void> kept, source_.KeepSize());
  CAIRN_ASSIGN_OR_RETURN(const StatePtr checkpoint,
                         LoadCheckpoint(source_, state_.checkpoint->header_bytes, state_.env()));
  CAIRN_ASSIGN_OR_RETURN(check.replayed, Replay(checkpoint, last()));
  for (const format::SummarySlot& slot : slots) {
    const absl::Status status = CheckSummary(slot, checkpoint, *check.replayed);
    if (absl::IsDataLoss(status)) {
      check.summaries.push_back(
          {slot.position, slot.end(), "summary", std::string(status.message())});
    } else {
      CAIRN_RETURN_IF_ERROR(status);
    }
  }
  return check;
}

}  // namespace

absl::StatusOr<JournalCheck> CheckJournal(const State& state) {
  return JournalChecker(state).Run();
}

}  // namespace cairn::frame
