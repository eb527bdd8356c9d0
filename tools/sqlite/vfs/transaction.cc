#include "tools/sqlite/vfs/transaction.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/status.h"

namespace cairn::sqlite {

absl::StatusOr<size_t> ReadSome(const Snapshot& snapshot, int64_t offset, MutableBytes dst) {
  const int64_t there = std::clamp<int64_t>(snapshot.info().nbytes - offset, 0, std::ssize(dst));
  if (there > 0) {
    RETURN_IF_ERROR(snapshot.ReadBytes(offset, dst.first(static_cast<size_t>(there))));
  }
  return static_cast<size_t>(there);
}

Transaction::Transaction(Writer& writer, Snapshot base) : writer_(writer), base_(std::move(base)) {
  Begin(base_);
}

void Transaction::Begin(Snapshot base) {
  base_ = std::move(base);
  view_.reset();
  chunksize_ = base_.info().chunksize;
  size_ = base_.info().nbytes;
  edited_ = false;
}

absl::StatusOr<const Snapshot*> Transaction::View() {
  if (!edited_) return &base_;
  if (!view_.has_value()) {
    ASSIGN_OR_RETURN(view_, writer_.StagedSnapshot());
  }
  return &*view_;
}

absl::StatusOr<size_t> Transaction::Read(int64_t offset, MutableBytes dst) {
  ASSIGN_OR_RETURN(const Snapshot* view, View());
  return ReadSome(*view, offset, dst);
}

// With zeros. The first chunk decides the size of all: it is a page.
absl::Status Transaction::Extend(int64_t size, int64_t page) {
  if (!chunksize_.has_value()) {
    const std::vector<std::byte> zeros(static_cast<size_t>(page));
    RETURN_IF_ERROR(writer_.InsertChunk(0, zeros));
    chunksize_ = static_cast<int32_t>(page);
    size_ = page;
  }
  if (size > size_) RETURN_IF_ERROR(writer_.AppendSpecial(SpecialValue::kZeros, size - size_));
  size_ = std::max(size_, size);
  return absl::OkStatus();
}

absl::Status Transaction::Write(int64_t offset, Bytes src) {
  if (src.empty()) return absl::OkStatus();
  view_.reset();
  edited_ = true;
  if (offset > size_ || !chunksize_.has_value()) {
    RETURN_IF_ERROR(Extend(offset, std::ssize(src)));
  }
  const auto inside = static_cast<size_t>(std::clamp<int64_t>(size_ - offset, 0, std::ssize(src)));
  if (inside > 0) RETURN_IF_ERROR(writer_.UpdateItems(offset, src.first(inside)));
  if (inside < src.size()) RETURN_IF_ERROR(writer_.Append(src.subspan(inside)));
  size_ = std::max(size_, offset + std::ssize(src));
  return absl::OkStatus();
}

absl::Status Transaction::Truncate(int64_t size) {
  if (size >= size_) return absl::OkStatus();
  const int64_t chunksize = *chunksize_;
  const int64_t first = size / chunksize;
  // What stays of the chunk that is cut follows the complete ones again.
  std::vector<std::byte> rest(static_cast<size_t>(size % chunksize));
  RETURN_IF_ERROR(Read(first * chunksize, rest).status());
  view_.reset();
  edited_ = true;
  const int64_t count = (size_ + chunksize - 1) / chunksize;
  RETURN_IF_ERROR(writer_.DeleteChunks(first, count - first));
  if (!rest.empty()) RETURN_IF_ERROR(writer_.Append(rest));
  size_ = size;
  return absl::OkStatus();
}

void Transaction::Rollback() {
  view_.reset();
  writer_.Rollback();
  Begin(base_);
}

absl::StatusOr<Snapshot> Transaction::Commit(Durability durability) {
  view_.reset();
  ASSIGN_OR_RETURN(Snapshot committed, writer_.Commit(durability));
  Begin(committed);
  return committed;
}

}  // namespace cairn::sqlite
