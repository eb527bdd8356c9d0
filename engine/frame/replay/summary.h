// Finds the summaries of a journal after which a reader may begin.
#ifndef CAIRN_ENGINE_FRAME_REPLAY_SUMMARY_H_
#define CAIRN_ENGINE_FRAME_REPLAY_SUMMARY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/format/journal_summary.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/index/summarized_index.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// The place of the anchor of a checkpoint, if it has one.
struct AnchorPlace {
  int64_t position = 0;
  uint64_t identity = 0;  // of the anchor and of the summaries that it names

  int64_t slot(int64_t number) const {
    return position + chunk::kHeaderSize + number * format::kSlotSize;
  }
};
// Returns the anchor of a checkpoint that ends there, or that inherits its journal. `base` is that
// of the journal.
AnchorPlace AnchorAfter(int64_t frame_size, bool inherits, uint64_t base);
// Returns the anchor of a state, which is the checkpoint or follows it. Its journal is known.
AnchorPlace AnchorOf(const State& state);

// Returns true if there is an anchor. One that cannot be read does not count.
bool HasAnchor(const FrameFile& source, const AnchorPlace& anchor);

// Tells how far a writer has summed up the journal for the readers of one checkpoint.
struct SummaryProgress {
  int64_t edits = 0;  // edits of the journal when it was last summed up, or that was tried
  std::optional<format::SummarySlot> unmarked;  // a summary that is perhaps not durable
};

struct LoadedSummary {
  format::SummarySlot slot;
  format::JournalSummary content;
  std::shared_ptr<const SummarizedIndex> index;
};

// Returns the places of the summaries whose commits need no check, the newest first. They are
// durable or, unless `durable_only`, were made in this boot. `state` is as for AnchorOf.
std::vector<format::SummarySlot> FindSummaries(const FrameFile& source, const State& state,
                                               bool durable_only);

// Loads a summary and checks every byte of it. Errors: kDataLoss if it is damaged.
absl::StatusOr<LoadedSummary> LoadSummary(const FrameFile& source, const State& checkpoint,
                                          const format::SummarySlot& slot);

// Loads the newest summary that is found. Summaries are a cache, so it returns nothing if they are
// missing or damaged.
std::optional<LoadedSummary> LoadNewestSummary(const FrameFile& source, const State& checkpoint,
                                               bool durable_only);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_SUMMARY_H_
