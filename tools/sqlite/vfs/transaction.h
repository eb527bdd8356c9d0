// The changes of one connection: the bytes of the database with its edits on top.
#ifndef CAIRN_TOOLS_SQLITE_VFS_TRANSACTION_H_
#define CAIRN_TOOLS_SQLITE_VFS_TRANSACTION_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "cairn/writer.h"

namespace cairn::sqlite {

// The file of a database is one range of bytes, in chunks of one size, which is that of the first
// page.
class Transaction {
 public:
  // The writer's committed state is `base`, and nothing is staged. The writer must outlive this
  // object.
  Transaction(Writer& writer, Snapshot base);

  int64_t size() const { return size_; }
  bool edited() const { return edited_ || counted_; }
  // Returns true if the writer has any of it.
  bool staged() const { return edited_; }
  // Fills dst from byte `offset` on, with as many bytes as there are.
  absl::StatusOr<size_t> Read(int64_t offset, MutableBytes dst);
  // Zeros fill the space between the end and `offset`.
  absl::Status Write(int64_t offset, Bytes src);
  absl::Status Truncate(int64_t size);
  void Rollback();
  // Writes everything that a commit needs, and reserves the space for the rest: see
  // Writer::Prepare. Cuts off bytes after the pages that the database has by its header, because
  // SQLite does so only when it commits. Only Commit or Rollback may follow.
  absl::Status Prepare(Durability durability);
  // The next edits follow the committed ones.
  absl::StatusOr<Snapshot> Commit(Durability durability);

 private:
  absl::Status Extend(int64_t size, int64_t page);
  absl::Status ReadStaged(int64_t offset, MutableBytes dst);
  absl::StatusOr<bool> IsCount(int64_t offset, Bytes src);
  absl::Status StoreFirstPage();
  absl::Status CutUnused();
  void Begin(Snapshot base);

  Writer& writer_;
  Snapshot base_;
  std::optional<int32_t> chunksize_;
  int64_t size_ = 0;
  bool edited_ = false;
  bool prepared_ = false;
  bool counted_ = false;  // only the change counter has changed, which is not stored
};

// Fills dst from byte `offset` of the snapshot on, with as many bytes as there are.
absl::StatusOr<size_t> ReadSome(const Snapshot& snapshot, int64_t offset, MutableBytes dst);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_TRANSACTION_H_
