// Sums up the journal, for readers that open the frame.
#ifndef CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_SUMMARIZER_H_
#define CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_SUMMARIZER_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/background_checkpoint.h"
#include "engine/frame/journal/journal_headroom.h"
#include "engine/frame/journal/journal_remains.h"
#include "engine/frame/journal/journal_tail.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/replay/summary.h"

namespace cairn::frame {

// Writes a summary into a long journal where that is due, and its place into the anchor, where
// readers look for it. Summaries are a cache: a full disk does without. Not thread-safe.
class JournalSummarizer {
 public:
  // All but the last must outlive this.
  JournalSummarizer(CommittedFrame& frame, JournalTail& tail, JournalHeadroom& headroom,
                    JournalRemains& remains, const JournalFootprint& journal)
      : frame_(frame),
        tail_(tail),
        headroom_(headroom),
        remains_(remains),
        progress_{.edits = journal.summed_up, .unmarked = {}},
        is_void_(journal.summary_is_void) {}

  // The journal is another one, which was summed up that far.
  void Begin(SummaryProgress progress) { progress_ = std::move(progress); }
  // Sums up the journal after a commit, so that readers skip it. `stager` has nothing staged. If
  // this writes a summary, it installs another committed state of the same generation.
  absl::Status SumUp(const Stager& stager);
  // Does so for the readers that a checkpoint made next to commits is going to have, before it
  // continues. Returns true if that took a part of the work.
  absl::StatusOr<bool> SumUpFor(BackgroundCheckpoint& next, const Stager& stager);

  // Returns true if the anchor names a summary of commits that the journal does not hold.
  bool is_void() const { return is_void_; }
  // Makes the anchor name none: the next commits have the generations of those in that summary.
  absl::Status VoidSummaries();

 private:
  const State& base() const { return *frame_.state; }
  bool IsSummaryDue(int64_t edits, SummaryProgress& progress) const;
  absl::StatusOr<bool> WriteSummary(std::vector<std::byte> summary, const Stager& stager,
                                    const std::shared_ptr<const SummarizedIndex>& index);
  absl::Status WriteSlot(const AnchorPlace& anchor, int64_t number,
                         const format::SummarySlot& slot) const;
  absl::Status WriteSlot(const AnchorPlace& anchor, const Extent& summary,
                         SummaryProgress& progress) const;
  absl::Status MarkSummary(const AnchorPlace& anchor, SummaryProgress& progress);

  CommittedFrame& frame_;
  JournalTail& tail_;
  JournalHeadroom& headroom_;
  JournalRemains& remains_;
  SummaryProgress progress_;
  bool is_void_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_JOURNAL_JOURNAL_SUMMARIZER_H_
