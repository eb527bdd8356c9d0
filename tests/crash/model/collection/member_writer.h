// The writer of one member of a collection in the model: an ordinary frame.
#ifndef CAIRN_TESTS_CRASH_MODEL_COLLECTION_MEMBER_WRITER_H_
#define CAIRN_TESTS_CRASH_MODEL_COLLECTION_MEMBER_WRITER_H_

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/crash/model/collection/machine.h"
#include "tests/crash/model/collection/readers.h"
#include "tests/crash/model/collection/reading.h"
#include "tests/crash/model/collection/rules.h"

namespace cairn::model {

// Stages edits, and writes the record when the collection has decided. Its space is used again only
// when no reader of the collection needs it.
class MemberWriter {
 public:
  struct Site {
    Machine& machine;
    const CollectionRules& rules;
    Random& random;
    CollectionReaders& readers;
    Id& ids;
  };

  // The ledger lists a generation since a commit, or since an earlier one.
  using Listed = std::vector<std::pair<Txn, Generation>>;

  // Continues after `view`.
  MemberWriter(Site site, MemberView view, Listed listed);

  // Makes durable what the next commits build upon. Returns false if that failed.
  bool Confirm();

  const FilePtr& file() const { return file_; }
  const std::vector<ChunkAt>& chunks() const { return chunks_; }
  bool has_room() const;
  // Stages edits: writes the chunks of which the ledger gets no copy.
  Part Stage();
  bool needs_sync() const { return needs_sync_; }
  bool Sync();
  // Writes the record of the edits that were staged, with its copied chunks, and its receipt.
  void Publish(const Record& record, Txn txn);
  // Returns the position of a checkpoint that the ledger does not list yet.
  std::optional<Position> Unlisted() const;
  void NoteListed(Txn txn) { listed_.emplace_back(txn, position_.generation); }

  // Returns false if the writer must stop.
  bool WriteCheckpoint();
  // A checkpoint that other commits may follow before its header is written.
  void BeginCheckpoint();
  bool EndCheckpoint();
  bool has_begun() const { return begun_.has_value(); }

 private:
  Txn ListedFrom(Generation generation) const;
  bool IsHeld(const Dead& dead) const;
  void FreeDead();
  int Take();
  ChunkAt StageAndTakeBack();
  bool Flip(const Checkpoint& next, int slot);
  std::vector<int> SlotsWithout(const std::vector<int>& kept) const;
  std::vector<Dead> DeadWith(const std::vector<int>& slots) const;

  Site site_;
  FilePtr file_;
  Checkpoint checkpoint_;
  int checkpoint_slot_;
  std::vector<ChunkAt> chunks_;
  Position position_;
  size_t used_;
  std::set<int> free_;
  std::vector<Dead> dead_;
  Listed listed_;
  bool needs_sync_ = false;
  struct Begun {
    Checkpoint checkpoint = {};
    int slot = 0;
    size_t used = 0;             // records before it
    std::vector<int> dead = {};  // slots that die with it
  };
  std::optional<Begun> begun_;
};

// Creates a member's file with these chunks, and returns the position to be listed.
Position CreateMember(const MemberWriter::Site& site, MemberId id, const std::vector<Id>& chunks,
                      const std::string& name);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_COLLECTION_MEMBER_WRITER_H_
