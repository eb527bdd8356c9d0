// Distinguishes damage of a journal from the effect of a power cut.
//
// After a power cut some of the bytes that were not synced are there and some are not, in any
// order. So a journal may end before intact records that were never promised, and the next writer
// cuts them. If no power cut can have happened, or a record proves that the missing bytes were
// durable, the journal is damaged, and nothing may be cut.
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

// Collects what receipts tell about the commits of a journal. Not thread-safe.
class JournalTrust {
 public:
  // `boot` is that of the machine that reads; see FileSystem::BootId.
  explicit JournalTrust(uint64_t boot) : boot_(boot) {}

  void Learn(const format::Receipt& receipt) {
    generation_ = std::max(generation_, CoveredBy(receipt));
    const bool other_boot = receipt.boot != boot_ && receipt.boot != 0 && boot_ != 0;
    durable_ = std::max(durable_, other_boot ? receipt.generation : receipt.durable_generation);
  }
  // Returns the newest commit that the receipt alone covers.
  uint64_t CoveredBy(const format::Receipt& receipt) const {
    const bool same_boot = receipt.boot == boot_ && boot_ != 0;
    return same_boot ? receipt.generation : receipt.durable_generation;
  }
  // Returns true if no power cut took a part of a commit. Unless it is damaged, it is as it was
  // written.
  bool Covers(uint64_t generation) const { return generation <= generation_; }
  // Returns true if a commit, if it is intact, is on the disk: a receipt tells so, or it outlived a
  // boot.
  bool CoversDurably(uint64_t generation) const { return generation <= durable_; }

 private:
  uint64_t boot_;
  uint64_t generation_ = 0;
  uint64_t durable_ = 0;
};

// Collects the intact records after the position where replay of a journal stops. Not thread-safe.
class StrandedCommits {
 public:
  // Nothing that follows `end` was found at `stop`.
  StrandedCommits(const JournalPosition& end, int64_t stop)
      : end_(end), stop_(stop), has_receipts_(end.receipt.has_value()) {}

  // Notes a record after the journal's end. Adds the facts of its receipt to `trust`.
  void Note(const FoundRecord& record, JournalTrust& trust);
  // Returns nothing if a power cut may have ended the journal.
  std::optional<JournalDamage> Judge(const JournalTrust& trust) const;
  // Returns the bases of journals that begin there, follow newer checkpoints, and show that no
  // power cut took the headers that led to them.
  std::vector<uint64_t> other_bases() const;

 private:
  // Returns true if the record belongs to this journal, not to a frame that a chunk holds, and is
  // newer than its end.
  bool IsLater(uint64_t base, uint64_t generation) const;
  // Notes the first commit after another checkpoint. Records of a frame that a chunk holds do not
  // lie where they were written, so none of them is a first one.
  void NoteFirst(const format::CommitLinks& links);
  // Notes that no power cut took the commits of that journal up to this generation.
  void NoteProof(uint64_t base, uint64_t generation);

  struct OtherJournal {
    uint64_t first = 0;  // its first generation
    bool is_proven = false;
  };
  const JournalPosition& end_;
  const int64_t stop_;
  int64_t begin_ = 0;                                   // of the first record; 0: there is none
  uint64_t generation_ = 0;                             // of the newest record
  absl::flat_hash_map<uint64_t, OtherJournal> others_;  // by base
  bool has_receipts_;  // otherwise only the durable ends of records show it
  bool was_durable_ = false;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPLAY_STRANDED_COMMITS_H_
