// The writer of a collection. docs/collections.md gives the reason for each step.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_WRITER_CORE_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_WRITER_CORE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/writer.h"
#include "engine/collection/members/members_writer.h"
#include "engine/collection/members/site.h"
#include "engine/collection/write/aside_files.h"
#include "engine/collection/write/changed_names.h"
#include "engine/collection/write/first_failure.h"
#include "engine/collection/write/gate.h"
#include "engine/collection/write/kept_commit.h"
#include "engine/collection/write/ledger_writer.h"
#include "engine/collection/write/staging.h"

namespace cairn::collection {

// Not thread-safe. A writer that shares the collection has the ledger only in its turns, and each
// call must lie in one. Between them it holds the members that it has edited, and they get chunks
// to which nothing leads. See SharedWriter.
class WriterCore final : public MembersWriter {
 public:
  // `opened` is the ledger of the collection that was opened. If the writer is alone behind the
  // gate, it completes what dead writers have left. A member that must be completed and is damaged
  // gives an error, or is left as it is if `takes_damage` is set.
  static absl::StatusOr<std::unique_ptr<WriterCore>> Open(std::shared_ptr<const Site> site,
                                                          const File& opened,
                                                          std::unique_ptr<Gate> gate,
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

  // Begins a turn, which sees what others have committed. Errors: kUnavailable if another writer
  // has its turn for all of `wait`.
  absl::Status TakeTurn(std::chrono::milliseconds wait);
  // Lets other writers have their turns.
  void EndTurn();
  // Ends the turn, and leaves the collection to the other writers. Every later call fails.
  void Leave();
  uint64_t number() const { return table().number; }
  Gate& gate() { return *gate_; }
  // These may also be asked between turns.
  Staging& staging() { return staging_; }
  FirstFailure& failure() { return failure_; }

 private:
  WriterCore(std::shared_ptr<const Site> site, std::unique_ptr<Gate> gate,
             std::unique_ptr<LedgerWriter> ledger, const CollectionWriterOptions& options)
      : site_(std::move(site)),
        gate_(std::move(gate)),
        ledger_(std::move(ledger)),
        is_shared_(options.shared),
        staging_(*site_, *ledger_, failure_, options) {}

  absl::Status Recover(std::optional<uint64_t> keep, bool takes_damage);
  absl::Status FollowOthers(uint64_t since);
  // Keeps this many commits before the newest from now on, durably.
  absl::Status Keep(uint64_t commits);

  // Steps of a commit.
  absl::Status Decide(LedgerCommit& commit);
  absl::Status AfterLedger(const LedgerCommit& commit);
  absl::Status Maintain();

  // Makes what the ledger has copies of durable in the members.
  absl::Status Settle();
  absl::Status WriteLedger();
  absl::Status CheckpointLedger();

  const LedgerTable& table() const { return ledger_->ledger().table; }

  const std::shared_ptr<const Site> site_;
  const std::unique_ptr<Gate> gate_;
  const std::unique_ptr<LedgerWriter> ledger_;
  const bool is_shared_;
  FirstFailure failure_;
  Staging staging_;
  ChangedNames changed_names_;
  AsideFiles aside_;
  KeptCommit kept_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_WRITER_CORE_H_
