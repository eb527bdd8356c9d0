// The writer of a collection in an object store, which other writers may change at the same time.
// docs/object-stores.md gives the reason for each step.
//   1. Chunks are put as new objects, and so are the indexes of new members. Nothing refers to
//   them.
//   2. The records that the members' writers would put go into a commit of the ledger, which is an
//      ordinary frame of the store. The put of its record decides.
//   3. The members' writers are told. If another writer was first, its records are shown to them,
//      they make their edits on top of those, and all is tried again.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECTS_OBJECT_WRITER_H_
#define CAIRN_ENGINE_COLLECTION_OBJECTS_OBJECT_WRITER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/writer.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/members_writer.h"
#include "engine/collection/members/site.h"
#include "engine/collection/objects/object_ledger.h"
#include "engine/collection/objects/object_member.h"
#include "engine/frame/open/frame_core.h"

namespace cairn::collection {

// Not thread-safe.
class ObjectWriter final : public MembersWriter {
 public:
  // Begins with the newest state of `ledger`, so that only later commits are requested. Each commit
  // becomes its newest state. Errors: kFailedPrecondition if another collection is there.
  static absl::StatusOr<std::unique_ptr<ObjectWriter>> Open(std::shared_ptr<const Site> site,
                                                            std::shared_ptr<ObjectLedger> ledger,
                                                            const CollectionWriterOptions& options);

  absl::StatusOr<Writer*> Edit(std::string_view name) override;
  absl::StatusOr<Writer*> Add(std::string_view name, const CreateOptions& options) override;
  absl::Status Remove(std::string_view name) override;
  // Objects have no dead bytes. A copy to the same name makes the commit collect garbage.
  absl::Status Copy(std::string_view from, std::string_view to) override;
  absl::Status AddCopy(std::string_view name, MemberKind kind, const Snapshot& content) override;
  absl::StatusOr<uint64_t> Commit() override;
  void Rollback() override;
  // Returns false: writers do not wait for each other.
  absl::StatusOr<bool> HasWaiters() const override;
  // Commits, and writes a checkpoint if that saves the next ones who open more than it costs.
  absl::Status Close() override;

 private:
  using Members = std::map<std::string, std::unique_ptr<ObjectMember>, std::less<>>;

  ObjectWriter(std::shared_ptr<const Site> site, WriterOptions options,
               std::shared_ptr<ObjectLedger> shared, std::shared_ptr<frame::FrameCore> core,
               Writer writer, Ledger ledger)
      : site_(std::move(site)),
        options_(std::move(options)),
        shared_ledger_(std::move(shared)),
        ledger_core_(std::move(core)),
        ledger_writer_(std::move(writer)),
        ledger_(std::move(ledger)) {}

  absl::Status CheckIsThere(std::string_view name) const;
  // Errors: kFailedPrecondition if a group has a ledger of its own.
  absl::Status CheckGroups(std::string_view name) const;
  absl::StatusOr<ObjectMember*> OpenMember(std::string_view name);
  ObjectMember& StagedMember(std::string_view name);

  // Steps of a commit.
  absl::StatusOr<uint64_t> CommitStaged();
  absl::Status CheckStaged() const;
  absl::Status Prepare(LedgerCommit& commit);
  absl::Status Decide(const LedgerCommit& commit);
  absl::Status FollowLedger(const absl::Status& status);
  absl::Status Stop(const absl::Status& failure);
  absl::Status AfterLedger(const LedgerCommit& commit);
  absl::Status Follow();
  absl::Status ReadCommits();
  void ShowFrames(const LedgerCommit& commit);
  void ShowCollection() const;

  // Makes a checkpoint, and collects garbage if that is due.
  absl::Status TidyUp(bool collects);
  absl::Status Checkpoint();
  absl::Status CheckpointMembers(const std::set<std::string>& names);
  absl::Status CheckpointLedger();

  const std::shared_ptr<const Site> site_;
  const WriterOptions options_;                        // of members
  const std::shared_ptr<ObjectLedger> shared_ledger_;  // of the collection
  const std::shared_ptr<frame::FrameCore> ledger_core_;
  Writer ledger_writer_;
  Ledger ledger_;
  Members members_;  // with a writer
  // Edits that are staged.
  std::set<std::string, std::less<>> edited_;
  Members added_;
  std::map<std::string, MemberEntry, std::less<>> removed_;
  bool collects_ = false;  // garbage, with the next commit
  absl::Status unusable_;  // the first failure, or that the writer is closed
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECTS_OBJECT_WRITER_H_
