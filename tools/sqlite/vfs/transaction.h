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
  bool edited() const { return edited_; }
  // Fills dst from byte `offset` on; as many bytes as there are.
  absl::StatusOr<size_t> Read(int64_t offset, MutableBytes dst);
  // Zeros fill what lies between the end and `offset`.
  absl::Status Write(int64_t offset, Bytes src);
  absl::Status Truncate(int64_t size);
  void Rollback();
  // The next edits follow the committed ones. Each commit after the first changes the counter of
  // the database: SQLite counts one for each time that it locks the file, as if nobody read
  // meanwhile.
  absl::StatusOr<Snapshot> Commit(Durability durability);

 private:
  absl::Status Extend(int64_t size, int64_t page);
  absl::Status CountChange();
  absl::Status ReadStaged(int64_t offset, MutableBytes dst);
  void Begin(Snapshot base);

  Writer& writer_;
  Snapshot base_;
  std::optional<int32_t> chunksize_;
  int64_t size_ = 0;
  bool edited_ = false;
  bool has_committed_ = false;
};

// Fills dst from byte `offset` of the snapshot on; as many bytes as there are.
absl::StatusOr<size_t> ReadSome(const Snapshot& snapshot, int64_t offset, MutableBytes dst);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_TRANSACTION_H_
