// A connection's view of a database: its locks, its snapshot, its transaction.
#ifndef CAIRN_TOOLS_SQLITE_VFS_DATABASE_FILE_H_
#define CAIRN_TOOLS_SQLITE_VFS_DATABASE_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"

#include "cairn/snapshot.h"
#include "tools/sqlite/vfs/cached_database.h"
#include "tools/sqlite/vfs/commit_group.h"
#include "tools/sqlite/vfs/database.h"
#include "tools/sqlite/vfs/transaction.h"
#include "tools/sqlite/vfs/vfs_file.h"
#include "tools/sqlite/vfs/writer_queue.h"

namespace cairn::sqlite {

// SQLite's locks mean this:
//   SHARED     a snapshot of the committed state; nobody waits for it
//   RESERVED   the writer, SQLITE_BUSY while another connection has it; SQLITE_BUSY_SNAPSHOT if the
//              snapshot is not the newest
//   PENDING and EXCLUSIVE wait for nobody: readers continue with their snapshots
// Writes are staged. The commit is SQLITE_FCNTL_COMMIT_PHASETWO, which SQLite calls when everything
// is written. It is durable if SQLite has called xSync before. At that point SQLite no longer
// accepts errors for a transaction over several databases. So before the first one is committed,
// all are prepared, and errors are reported there, in SQLITE_FCNTL_SYNC or xSync.
//
// After a write or commit that failed, all writes fail until SQLite unlocks. With
// locking_mode=EXCLUSIVE it does not unlock, so they fail until it begins to roll back or begins
// another transaction, which finds the committed state.
class DatabaseFile final : public VfsFile {
 public:
  // `journals` is kept as long as this lives. `disk` is the VFS of the files next to the database.
  DatabaseFile(std::shared_ptr<Database> database, std::shared_ptr<const void> journals,
               bool read_only, WriterQueue& queue, CommitGroup& group, sqlite3_vfs* disk)
      : database_(std::move(database)),
        journals_(std::move(journals)),
        read_only_(read_only),
        queue_(queue),
        group_(group),
        disk_(disk) {}
  ~DatabaseFile() override;

  int Read(int64_t offset, MutableBytes dst) override;
  int Write(int64_t offset, Bytes src) override;
  int Truncate(int64_t size) override;
  int Sync(int flags) override;
  int Size(int64_t& size) override;
  int Lock(int level) override;
  int Unlock(int level) override;
  int CheckReservedLock(int& reserved) override;
  int Control(int op, void* arg) override;
  int DeviceCharacteristics() const override;

 private:
  Snapshot Visible() const;
  absl::StatusOr<size_t> ReadStored(int64_t offset, MutableBytes dst);
  absl::StatusOr<size_t> ReadCounted(int64_t offset, MutableBytes dst);
  int BeginAnew();
  absl::Status TakeSnapshot();
  int NoteFailure(const absl::Status& status);
  absl::Status Stage(int64_t offset, Bytes page);
  int BeginTransaction();
  int EnsureTransaction();
  void EndTransaction();
  Durability CommitDurability() const;
  void DropPrepared();
  int NoteWritten(bool is_one_of_many);
  int Prepare();
  void LeaveGroup();
  int Commit();
  void GiveBackSpace();
  int Pragma(char** arguments);
  int TellTemporaryName(void* name);

  const std::shared_ptr<Database> database_;
  const std::shared_ptr<const void> journals_;
  const bool read_only_;
  WriterQueue& queue_;
  CommitGroup& group_;
  sqlite3_vfs* const disk_;
  int level_ = SQLITE_LOCK_NONE;
  std::optional<Snapshot> snapshot_;        // from SHARED on
  std::optional<Transaction> transaction_;  // from RESERVED on
  CachedDatabase cached_;
  sqlite3* const* connection_ = nullptr;  // SQLite's pointer to the connection that uses this
  // True if SQLite has written all of the transaction, which may cover several databases.
  bool is_in_group_ = false;
  // Set if the transaction is prepared: the size that SQLite has written.
  std::optional<int64_t> prepared_size_;
  bool failed_ = false;   // the transaction can only be dropped
  bool sync_ = false;     // the next commit must be durable
  bool vacuums_ = false;  // the transaction writes the whole database again
  Database::Outcome outcome_ = Database::Outcome::kDurable;  // outcome of the last commit
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_DATABASE_FILE_H_
