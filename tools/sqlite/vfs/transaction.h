// What one connection is changing: the bytes of the database with its edits on top.
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

// The file of a database is one range of bytes, in chunks of one size: that of the first page.
class Transaction {
 public:
  // The writer's committed state is `base`, and nothing is staged. The writer must outlive it.
  Transaction(Writer& writer, Snapshot base);

  int64_t size() const { return size_; }
  bool edited() const { return edited_ || counted_; }
  // Whether the writer has any of it.
  bool staged() const { return edited_; }
  // Fills dst from byte `offset` on; as many bytes as there are.
  absl::StatusOr<size_t> Read(int64_t offset, MutableBytes dst);
  // Zeros fill what lies between the end and `offset`.
  absl::Status Write(int64_t offset, Bytes src);
  absl::Status Truncate(int64_t size);
  void Rollback();
  // Writes all that a commit needs, and reserves the space for the rest: see Writer::Prepare. Cuts
  // what lies after the pages that the database says it has, for SQLite does so only when it
  // commits. Then Commit or Rollback follows, but no edit.
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
  bool counted_ = false;  // the change counter, which is not stored
};

// Fills dst from byte `offset` of the snapshot on; as many bytes as there are.
absl::StatusOr<size_t> ReadSome(const Snapshot& snapshot, int64_t offset, MutableBytes dst);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_TRANSACTION_H_
