// The writer of the protocol. Once its process was stopped nothing that it does has an effect.
#ifndef CAIRN_TESTS_CRASH_MODEL_WRITER_H_
#define CAIRN_TESTS_CRASH_MODEL_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

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
  Base base;
  uint64_t generation = 0;
  uint64_t durable_generation = 0;  // of a receipt
};

struct Edit {
  std::vector<Bytes> chunks;
  uint64_t metadata = 0;      // 0: stays
  bool machine = false;       // Durability::kMachine
  bool syncs_chunks = false;  // before the record, as a large commit does
};

class Writer {
 public:
  Writer(Disk& disk, const Conditions& conditions, const Rules& rules, Random& random,
         std::vector<Proof>& proofs)
      : disk_(disk), conditions_(conditions), rules_(rules), random_(random), proofs_(proofs) {}

  // False when the file does not open or is damaged: then nothing is written.
  bool Open();
  // What was read, and after each commit what it left.
  const Replayed& view() const { return view_; }

  // The state that Commit is going to leave.
  State StateAfter(const Edit& edit) const;
  void Commit(const Edit& edit);
  // Durability::kMachine where there is nothing to commit.
  void SyncCommitted();
  void MakeCheckpoint();

 private:
  void Confirm();
  void LeaveReceipt();
  void ReserveSpace(uint64_t end);
  uint64_t ChunksBegin() const;
  uint64_t RecordEndAfter(const Edit& edit) const;
  void WriteRecord(uint64_t begin, const Bytes& chunks, const BatchRecord& record, bool machine);
  void WriteParts(uint64_t begin, const std::vector<Bytes>& parts);
  Bytes EncodeRecord(const BatchRecord& record, uint64_t position);
  Bytes EncodeReceipt(uint64_t position, uint64_t durable_generation);

  Disk& disk_;
  const Conditions& conditions_;
  const Rules& rules_;
  Random& random_;
  std::vector<Proof>& proofs_;
  Replayed view_;
  uint64_t synced_end_ = 0;
  uint64_t synced_generation_ = 0;
};

// Makes the file, durably, with its first checkpoint.
void CreateFile(Disk& disk, const Conditions& conditions, const Rules& rules, Random& random);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_WRITER_H_
