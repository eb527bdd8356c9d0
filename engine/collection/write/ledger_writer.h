// The writer of a collection's ledger, which decides what is committed.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_LEDGER_WRITER_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_LEDGER_WRITER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/collection/held/held_file.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/site.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/writer/frame_writer.h"

namespace cairn::collection {

// Not thread-safe. After a failed write or sync it is not known what is on the disk, and the writer
// must not be used any more.
class LedgerWriter {
 public:
  // `opened` is the ledger of the collection that was opened. Errors: kUnavailable if another
  // writer has the ledger for longer than `wait`; kDataLoss if it is damaged.
  static absl::StatusOr<std::unique_ptr<LedgerWriter>> Open(const Site& site, const File& opened,
                                                            std::chrono::milliseconds wait);

  const Ledger& ledger() const { return ledger_; }
  // Returns the file, in which readers have locks.
  const std::shared_ptr<const File>& file() const { return file_; }
  // Returns true if there must be a checkpoint before commits can follow.
  bool owes_checkpoint() const;
  // Returns true if the commits since the checkpoint are many.
  bool IsLong() const;
  // Keeps this many commits before the newest from now on. The next checkpoint says so.
  void Keep(uint64_t commits) { KeepPast(commits, ledger_.table); }

  // Prepares a commit. Returns true if it will be a checkpoint, for lack of room. Then the table
  // must have all commits before it.
  absl::StatusOr<bool> Prepare(const LedgerCommit& commit);
  void Rollback() { writer_.Rollback(); }
  // Makes the commit that was prepared durable. It stands then.
  absl::Status Commit(LedgerCommit commit);
  // Writes the table, and drops the copies that the ledger has: members must have them.
  absl::Status WriteCheckpoint();
  absl::Status Sync() const { return held_->Sync(); }

  // Lets other writers have the ledger.
  absl::Status Suspend() { return writer_.Suspend(); }
  // Takes the ledger again, and reads what others have committed. Errors: as for Open.
  absl::Status Resume(std::chrono::milliseconds wait);
  absl::StatusOr<bool> HasWaiters() const { return writer_.HasWaiters(); }
  absl::Status Close() { return writer_.Close(); }

 private:
  LedgerWriter(std::string path, std::shared_ptr<HeldFile> held,
               std::shared_ptr<frame::FrameCore> core, std::unique_ptr<frame::FrameWriter> writer,
               std::shared_ptr<const File> file);

  Snapshot Newest() const;
  // Returns true if the last commit is not in the table but became a part of the checkpoint. It
  // would be lost with the next one.
  bool IsCommitInCheckpoint() const;
  absl::Status Read();

  const std::string path_;
  const std::shared_ptr<HeldFile> held_;  // tells what is written
  const std::shared_ptr<frame::FrameCore> core_;
  const frame::FrameWriter& frame_writer_;  // that of writer_
  Writer writer_;
  const std::shared_ptr<const File> file_;
  Ledger ledger_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_LEDGER_WRITER_H_
