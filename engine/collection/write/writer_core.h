// The writer of a collection. docs/collections.md gives the reason for each step.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_WRITER_CORE_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_WRITER_CORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "cairn/writer.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/members_writer.h"
#include "engine/collection/members/site.h"
#include "engine/collection/write/aside_files.h"
#include "engine/collection/write/held_file.h"
#include "engine/collection/write/kept_commit.h"
#include "engine/collection/write/member.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/open/frame_core.h"

namespace cairn::collection {

// A member is opened only if this many files may be opened before. The member takes up to eight
// while it is opened. The rest is for the commit, which opens files and directories one by one.
inline constexpr int64_t kLeastRoom = 32;

// Not thread-safe.
class WriterCore final : public MembersWriter {
 public:
  // `opened` is the ledger of the collection that was opened. A member that must be completed and
  // is damaged gives an error, or is left as it is if `takes_damage` is set.
  static absl::StatusOr<std::unique_ptr<WriterCore>> Open(std::shared_ptr<const Site> site,
                                                          const File& opened,
                                                          const CollectionWriterOptions& options,
                                                          bool takes_damage = false);

  absl::StatusOr<Writer*> Edit(std::string_view name) override;
  absl::StatusOr<Writer*> Add(std::string_view name, const CreateOptions& options) override;
  absl::Status Remove(std::string_view name) override;
  absl::Status Copy(std::string_view from, std::string_view to) override;
  absl::Status AddCopy(std::string_view name, MemberKind kind, const Snapshot& content) override;
  // Also lists the checkpoints of members, if `lists_checkpoints` is set and there are any.
  absl::StatusOr<uint64_t> Commit(bool lists_checkpoints);
  absl::StatusOr<uint64_t> Commit() override { return Commit(false); }
  void Rollback() override;
  // Lists members as their files are, in a commit; see Collection::Recover. Nothing is staged.
  absl::StatusOr<CollectionRecovery> AdoptMembers();
  absl::StatusOr<bool> HasWaiters() const override;
  // Completes all members, also if one is damaged, whose error it returns then.
  absl::Status Close() override;

 private:
  struct NewMember {
    MemberEntry entry;
    std::string path;  // of the file, which lies aside
    Writer writer;
  };

  WriterCore(std::shared_ptr<const Site> site, WriterOptions options,
             std::shared_ptr<HeldFile> held, std::shared_ptr<frame::FrameCore> ledger,
             Writer writer, std::shared_ptr<const File> file)
      : site_(std::move(site)),
        options_(std::move(options)),
        ledger_held_(std::move(held)),
        ledger_core_(std::move(ledger)),
        ledger_writer_(std::move(writer)),
        ledger_file_(std::move(file)) {}

  // Passes a status on. If it is a failure, it is not known what is on the disk, and the writer
  // stops.
  absl::Status Need(absl::Status status);
  absl::Status Recover(std::optional<uint64_t> keep, bool takes_damage);
  // Keeps this many commits before the newest from now on, durably.
  absl::Status Keep(uint64_t commits);

  absl::Status CheckIsThere(std::string_view name) const;
  // Closes idle members if the process may not open the files of one more. Errors:
  // kResourceExhausted if that is not enough.
  absl::Status MakeRoom(std::string_view name);
  absl::StatusOr<Member*> OpenMember(std::string_view name);
  // Stages a new member of that name, without looking whether there is one, or room for its files.
  absl::Status StageContent(const Snapshot& content, MemberKind kind, std::string_view name);

  // Steps of a commit.
  absl::Status WriteNewMembers(LedgerCommit& commit);
  absl::Status PrepareMembers(LedgerCommit& commit);
  absl::Status Decide(LedgerCommit& commit);
  absl::StatusOr<bool> PrepareLedger(Bytes layer);
  absl::Status AfterLedger(const LedgerCommit& commit);
  void DropStaged();

  absl::Status SyncMembers(absl::FunctionRef<bool(const Member&)> which) const;
  absl::Status CloseSome(size_t most);
  absl::Status CheckpointLedger();
  void NoteNames(std::string_view member);

  const std::shared_ptr<const Site> site_;
  const WriterOptions options_;                  // of members
  const std::shared_ptr<HeldFile> ledger_held_;  // tells what is written
  const std::shared_ptr<frame::FrameCore> ledger_core_;
  Writer ledger_writer_;
  const std::shared_ptr<const File> ledger_file_;
  Ledger ledger_;
  std::map<std::string, std::unique_ptr<Member>, std::less<>> members_;  // with a writer
  // Directories in which names have changed since the ledger's checkpoint.
  std::set<std::string> changed_directories_;
  AsideFiles aside_;
  KeptCommit kept_;
  // Edits that are staged.
  std::set<std::string, std::less<>> edited_;
  std::map<std::string, NewMember, std::less<>> added_;
  MemberTable removed_;
  absl::Status unusable_;  // the first failure, or that the writer is closed
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_WRITER_CORE_H_
