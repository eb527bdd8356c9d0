// The writer of a collection in the model. Its steps are those of the protocol.
#ifndef CAIRN_TESTS_CRASH_MODEL_COLLECTION_WRITER_H_
#define CAIRN_TESTS_CRASH_MODEL_COLLECTION_WRITER_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/crash/model/collection/machine.h"
#include "tests/crash/model/collection/member_writer.h"
#include "tests/crash/model/collection/readers.h"
#include "tests/crash/model/collection/reading.h"
#include "tests/crash/model/collection/rules.h"

namespace cairn::model {

// Once the process was killed, or the writer has stopped, nothing has an effect any more.
class CollectionWriter {
 public:
  // Says which writer holds a member, of those that share the collection. A writer that dies holds
  // nothing.
  using Holders = std::map<MemberId, const CollectionWriter*>;

  // With `holders` it shares the collection.
  CollectionWriter(MemberWriter::Site site, History& history, Holders* holders = nullptr)
      : site_(site), history_(history), holders_(holders) {}
  ~CollectionWriter();
  CollectionWriter(const CollectionWriter&) = delete;
  CollectionWriter& operator=(const CollectionWriter&) = delete;

  static void CreateCollection(Machine& machine, Id& ids);

  // Returns why it refuses; empty: it does not.
  std::string Open();
  const Ledger& ledger() const { return ledger_; }
  bool running() const { return !stopped_ && site_.machine.running(); }

  // Does one thing at random.
  void Act();
  // Does one thing at random beside others that share the collection, in a turn.
  void ActBesideOthers();
  // Leaves complete checkpoints.
  void Close();
  // Returns why it stopped by itself; empty: it did not.
  const std::string& problem() const { return problem_; }

 private:
  // Opening.
  void ConfirmLedger();
  // Returns the file, or null.
  FilePtr Redo(MemberId id);
  // Commits.
  LedgerRecord NextRecord();
  void Commit(bool changes_names);
  void ListCheckpoints(LedgerRecord& commit);
  bool StagePart(MemberId id, LedgerRecord& commit, Truth& truth);
  void AddPart(const Part& part, LedgerRecord& commit, Truth& truth) const;
  bool SyncStaged(const LedgerRecord& commit);
  void PublishParts(const LedgerRecord& commit);
  void WriteLedger(const LedgerRecord& commit);
  // Names.
  void ChooseNames(LedgerRecord& commit, Truth& truth, std::set<MemberId>& busy);
  void AddMember(const std::string& name, const std::vector<Id>& chunks, LedgerRecord& commit,
                 Truth& truth, std::set<MemberId>& busy);
  void Rename(const std::vector<NameEdit>& edits);
  void PlaceNames();
  void RemoveAside();
  // Checkpoints.
  void CheckpointSomeMember();
  void CheckpointLedger();
  void WriteLedgerCheckpoint();
  // Keeps this many commits before the newest from now on.
  void Keep(size_t commits);
  MemberWriter::Listed ListedOf(MemberId id) const;

  MemberWriter* OpenMember(MemberId id);
  bool Need(bool succeeded);
  // Several writers.
  bool TakeTurn();
  void EndTurn();
  bool IsHeldByOther(MemberId id) const;
  MemberWriter* HoldMember(MemberId id);
  void StageBesideOthers();
  void CommitBesideOthers();
  void LetMembersGo();
  bool CompleteFree(MemberId id);

  MemberWriter::Site site_;
  History& history_;
  Ledger ledger_;
  FilePtr ledger_file_;
  std::map<MemberId, std::unique_ptr<MemberWriter>> members_;
  Holders* holders_;
  std::map<MemberId, Part> staged_;  // by a writer that shares the collection
  bool stopped_ = false;
  std::string problem_;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_COLLECTION_WRITER_H_
