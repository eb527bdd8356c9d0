// Finds the summaries of a journal that a reader may begin after.
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

// Where the anchor of a checkpoint is, if it has one.
struct AnchorPlace {
  int64_t position = 0;
  uint64_t identity = 0;  // of it and of the summaries that it names

  int64_t slot(int64_t number) const {
    return position + chunk::kHeaderSize + number * format::kSlotSize;
  }
};
// Of a checkpoint that ends there, or that inherits its journal. `base` is that of the journal.
AnchorPlace AnchorAfter(int64_t frame_size, bool inherits, uint64_t base);
// `state` is the checkpoint, or follows it; its journal is known.
AnchorPlace AnchorOf(const State& state);

// Whether there is an anchor. What cannot be read is none.
bool HasAnchor(const FrameFile& source, const AnchorPlace& anchor);

// How far a writer has summed up the journal for the readers of one checkpoint.
struct SummaryProgress {
  int64_t edits = 0;  // of the journal when it was summed up, or that was tried
  std::optional<format::SummarySlot> unmarked;  // a summary that is perhaps not durable
};

struct LoadedSummary {
  format::SummarySlot slot;
  format::JournalSummary content;
  std::shared_ptr<const SummarizedIndex> index;
};

// Where the summaries are whose commits need no check: they are durable or, unless that is asked
// for, were made in this boot. The newest first. `state` as for AnchorOf.
std::vector<format::SummarySlot> FindSummaries(const FrameFile& source, const State& state,
                                               bool durable_only);

// Checks every byte of a summary. kDataLoss.
absl::StatusOr<LoadedSummary> LoadSummary(const FrameFile& source, const State& checkpoint,
                                          const format::SummarySlot& slot);

// The newest of those that are found. It is a cache: nothing where they are missing or damaged.
std::optional<LoadedSummary> LoadNewestSummary(const FrameFile& source, const State& checkpoint,
                                               bool durable_only);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_SUMMARY_H_
