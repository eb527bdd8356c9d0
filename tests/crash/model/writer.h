// The writer of the protocol. Once its process was stopped nothing that it does has an effect.
#ifndef CAIRN_TESTS_CRASH_MODEL_WRITER_H_
#define CAIRN_TESTS_CRASH_MODEL_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tests/crash/model/background_checkpoint.h"
#include "tests/crash/model/disk.h"
#include "tests/crash/model/format.h"
#include "tests/crash/model/random.h"
#include "tests/crash/model/replay.h"
#include "tests/crash/model/rules.h"

namespace cairn::model {

// A record or receipt that was written. A receipt, where it is intact in the file, proves what was
// durable.
struct Proof {
  uint64_t offset = 0;
  Bytes bytes;
  Base base = {};
  uint64_t generation = 0;
  uint64_t durable_generation = 0;  // of a receipt
  uint64_t boot = 0;                // of a receipt
  bool header_is_durable = false;   // and was when a record was written
};

struct Edit {
  std::vector<uint64_t> removed;  // numbers of chunks, the last one first
  std::optional<uint64_t> moved;  // one of them, whose bytes are those of a new chunk
  std::vector<Bytes> chunks;
  bool at_end = false;        // no chunk goes into free space
  uint64_t metadata = 0;      // 0: stays
  bool machine = false;       // Durability::kMachine
  bool syncs_chunks = false;  // before the record, as a large commit does
};

// An edit whose chunks have their places.
struct Placed {
  struct FreeChunk {
    uint64_t offset = 0;
    Bytes bytes;
  };
  std::vector<FreeChunk> in_free_space;
  Bytes in_journal;  // right before the record
  BatchRecord record;
  State after;
  std::optional<uint64_t> moved;
  bool machine = false;
  bool syncs_chunks = false;
};

class Writer {
 public:
  Writer(Disk& disk, const Conditions& conditions, const Rules& rules, Random& random,
         std::vector<Proof>& proofs, const Registrations& readers)
      : disk_(disk),
        conditions_(conditions),
        rules_(rules),
        random_(random),
        proofs_(proofs),
        readers_(readers),
        may_owe_(conditions.owes && random.Percent(60)) {}

  // False when the file does not open or is damaged: then nothing is written.
  bool Open();
  // Opens again after Suspend, during which other processes may have written.
  bool Resume();
  // Returns the state that was read, and after each commit the state that it left.
  const Replayed& view() const { return view_; }

  // Returns true if the state that it builds upon is perhaps not durable yet.
  bool owes() const { return owes_; }
  // Returns true if all bytes before the index are free, dead, dying or in use.
  bool AccountsForSpace() const;
  // Returns true if the journal may grow by the edit. Otherwise a checkpoint comes first.
  bool HasSpaceFor(const Edit& edit);
  // Stages the edit. Commit will leave the state of the result.
  Placed Place(const Edit& edit);
  void Commit(const Placed& placed);
  // Does all of that but what makes the commit visible. Commit or Cancel follows.
  void Prepare(const Placed& placed);
  void Cancel(const Placed& placed);
  // Sums up the journal after the last commit, for readers that open the file now, or when the
  // checkpoint that is made in steps has its header.
  void Summarize();
  // Durability::kMachine where there is nothing to commit.
  void SyncCommitted();
  // Syncs in a thread that waits for its commit. It leaves no receipt.
  void Sync();
  // Does nothing where there is no commit since the last one.
  void MakeCheckpoint();
  // Makes a checkpoint in steps, between which commits may come.
  void BeginCheckpoint();
  void StepCheckpoint();
  // Returns true if a header is durable, but nothing tells so yet where the journal before ended.
  bool IsUnmarked() const { return is_unmarked_; }
  // Returns true if its header is written, and may not be durable.
  bool IsFlipped() const { return gradual_.has_value() && gradual_->flipped(); }
  // Other processes may write now, until Resume.
  void Suspend();

 private:
  bool Load();
  void MakeDurable();
  bool IsDurable() const;
  void TakeSpace();
  void WriteAgain();
  void Confirm();
  void Owe(bool header_too);
  void SyncDisk();
  bool MayReuse(bool machine);
  void Pay();
  void LeaveReceipt();
  void WriteReceiptOfSyncs();
  void ReserveSpace(uint64_t end);
  bool NeedsAnchor() const;
  bool HasAnchor(const Checkpoint& checkpoint) const;
  void WriteSlot(const Checkpoint& checkpoint, size_t number, const Slot& slot);
  void SummarizeFor(const Checkpoint& checkpoint, std::optional<Slot>& unmarked);
  void MarkSummary(const Checkpoint& checkpoint, std::optional<Slot>& unmarked);
  void MarkSummaries();
  void VoidSummaries();
  uint64_t ChunksBegin() const;
  bool JournalMayReach(uint64_t end);
  void WriteFreeChunks(const Placed& placed);
  void ReserveFor(const Placed& placed);
  void WriteRecord(uint64_t begin, const Bytes& chunks, const BatchRecord& record, bool machine,
                   bool may_copy);
  void MarkDying(const ChunkRef& chunk, bool waits);
  Space SpaceAfterCheckpoint(uint64_t end) const;
  Checkpoint PlanCheckpoint(uint64_t index_begin, const Space& space) const;
  std::optional<Checkpoint> PlanBelow(Space& space) const;
  Checkpoint PlanAbove(Space& space) const;
  void BeginAbove();
  bool BeginBelow();
  bool CanCopy(const Placed& placed) const;
  void CopyCommit(BatchRecord record);
  void FlipBelow();
  void DropCheckpoint();
  void BeginSync();
  void EndSync();
  void TakeOver();
  void FinishFlip();
  bool MayMarkEnded();
  void MarkEnded(uint64_t journal_end, const Base& base);
  void Release();
  void CutUnused(bool header_is_durable);
  void WriteParts(uint64_t begin, const std::vector<Bytes>& parts);
  Bytes EncodeRecord(const BatchRecord& record, uint64_t position);
  Bytes EncodeReceipt(uint64_t position, uint64_t durable_generation);

  Disk& disk_;
  const Conditions& conditions_;
  const Rules& rules_;
  Random& random_;
  std::vector<Proof>& proofs_;
  const Registrations& readers_;
  Replayed view_;
  Space space_;
  std::vector<DeadExtent> died_;         // chunks, since the checkpoint
  uint64_t shared_end_ = 0;              // of what readers of the checkpoint before may see
  std::map<uint64_t, uint64_t> births_;  // generations of checkpoints, by offset of a chunk
  std::optional<BackgroundCheckpoint> gradual_;
  std::optional<Slot> summary_;  // that is not known to be durable
  bool is_prepared_ = false;
  bool is_unmarked_ = false;
  uint64_t synced_end_ = 0;
  uint64_t synced_generation_ = 0;
  const bool may_owe_;        // WriterOptions::opening is kProcess
  bool owes_ = false;         // what was read, which the first sync writes again
  bool owes_header_ = false;  // the one on the disk may be another
  Replayed owed_;
};

// Makes the file, durably, with its first checkpoint.
void CreateFile(Disk& disk, const Conditions& conditions, const Rules& rules, Random& random);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_WRITER_H_
