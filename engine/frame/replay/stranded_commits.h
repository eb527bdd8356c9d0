// Distinguishes damage of a journal from what a power cut leaves.
//
// After a power cut some of what was not synced is there and some is not, in any order: a journal
// may end before intact records that were never promised, and the next writer cuts them. Where
// no power cut can have been, or a record proves that what is missing was durable, the journal is
// damaged, and nothing may be cut.
#ifndef CAIRN_ENGINE_FRAME_REPLAY_STRANDED_COMMITS_H_
#define CAIRN_ENGINE_FRAME_REPLAY_STRANDED_COMMITS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "engine/format/journal.h"
#include "engine/frame/replay/journal_reader.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// What receipts say of the commits of a journal. Not thread-safe.
class JournalTrust {
 public:
  // `boot` of the machine that reads; see FileSystem::BootId.
  explicit JournalTrust(uint64_t boot) : boot_(boot) {}

  void Learn(const format::Receipt& receipt) {
    generation_ = std::max(generation_, CoveredBy(receipt));
    const bool other_boot = receipt.boot != boot_ && receipt.boot != 0 && boot_ != 0;
    durable_ = std::max(durable_, other_boot ? receipt.generation : receipt.durable_generation);
  }
  // The newest commit that the receipt alone covers.
  uint64_t CoveredBy(const format::Receipt& receipt) const {
    const bool same_boot = receipt.boot == boot_ && boot_ != 0;
    return same_boot ? receipt.generation : receipt.durable_generation;
  }
  // Whether a commit is what was written, unless it is damaged: no power cut took a part of it.
  bool Covers(uint64_t generation) const { return generation <= generation_; }
  // Whether a commit, if it is intact, is on the disk: a receipt says so, or it outlived a boot.
  bool CoversDurably(uint64_t generation) const { return generation <= durable_; }

 private:
  uint64_t boot_;
  uint64_t generation_ = 0;
  uint64_t durable_ = 0;
};

// The intact records after the position where replay of a journal stops. Not thread-safe.
class StrandedCommits {
 public:
  // Nothing that follows `end` was found at `stop`.
  StrandedCommits(const JournalPosition& end, int64_t stop)
      : end_(end), stop_(stop), has_receipts_(end.receipt.has_value()) {}

  // `record` lies after the journal's end. Adds what its receipt says to `trust`.
  void Note(const FoundRecord& record, JournalTrust& trust);
  // Nothing where a power cut may have ended the journal.
  std::optional<JournalDamage> Judge(const JournalTrust& trust) const;
  // Of the journals that begin there, follow newer checkpoints, and show that no power cut took the
  // headers that led to them.
  std::vector<uint64_t> other_bases() const;

 private:
  // Whether it is of this journal, not of a frame that a chunk holds, and newer than its end.
  bool IsLater(uint64_t base, uint64_t generation) const;
  // The first commit after another checkpoint. Records of a frame that a chunk holds do not lie
  // where they were written, so none of them is a first one.
  void NoteFirst(const format::CommitLinks& links);
  // No power cut took the commits of that journal up to this generation.
  void NoteProof(uint64_t base, uint64_t generation);

  struct OtherJournal {
    uint64_t first = 0;  // generation
    bool is_proven = false;
  };
  const JournalPosition& end_;
  const int64_t stop_;
  int64_t begin_ = 0;                                   // of the first record; 0: none
  uint64_t generation_ = 0;                             // of the newest
  absl::flat_hash_map<uint64_t, OtherJournal> others_;  // by base
  bool has_receipts_;  // else only the durable ends of records show it
  bool was_durable_ = false;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_STRANDED_COMMITS_H_
