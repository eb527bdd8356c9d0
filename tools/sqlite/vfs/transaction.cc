#include "tools/sqlite/vfs/transaction.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tools/sqlite/vfs/change_counter.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

// The first page has these numbers, in big endian.
constexpr size_t kPageSizeAt = 16;  // 1 for 65536, which is too large for it
constexpr size_t kSizeInPagesAt = 28;
constexpr int64_t kLargestPage = 65536;

int64_t NumberAt(Bytes bytes, size_t at, size_t size) {
  int64_t number = 0;
  for (const std::byte each : bytes.subspan(at, size))
    number = number << 8 | static_cast<int>(each);
  return number;
}

}  // namespace

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
  chunksize_ = base_.info().chunksize;
  size_ = base_.info().nbytes;
  edited_ = false;
  counted_ = false;
  prepared_ = false;
}

absl::StatusOr<size_t> Transaction::Read(int64_t offset, MutableBytes dst) {
  if (!edited_) return ReadSome(base_, offset, dst);
  const int64_t there = std::clamp<int64_t>(size_ - offset, 0, std::ssize(dst));
  const auto got = static_cast<size_t>(there);
  if (got > 0) RETURN_IF_ERROR(ReadStaged(offset, dst.first(got)));
  return got;
}

// Reads chunk by chunk, by way of a buffer if only a part of one is wanted.
absl::Status Transaction::ReadStaged(int64_t offset, MutableBytes dst) {
  const int64_t chunksize = *chunksize_;
  std::vector<std::byte> whole;
  while (!dst.empty()) {
    const int64_t nchunk = offset / chunksize;
    const int64_t begin = nchunk * chunksize;
    const auto size = static_cast<size_t>(std::min(chunksize, size_ - begin));
    const auto from = static_cast<size_t>(offset - begin);
    const size_t wanted = std::min(size - from, dst.size());
    if (wanted == size) {
      RETURN_IF_ERROR(writer_.ReadChunk(nchunk, dst.first(size)));
    } else {
      whole.resize(size);
      RETURN_IF_ERROR(writer_.ReadChunk(nchunk, std::span(whole)));
      std::ranges::copy(std::span(whole).subspan(from, wanted), dst.begin());
    }
    dst = dst.subspan(wanted);
    offset += static_cast<int64_t>(wanted);
  }
  return absl::OkStatus();
}

// Extends the database with zeros. The first chunk decides the size of all, and is a page.
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

absl::StatusOr<bool> Transaction::IsCount(int64_t offset, Bytes src) {
  if (offset != 0 || std::ssize(src) > size_) return false;
  std::vector<std::byte> stored(src.size());
  RETURN_IF_ERROR(Read(0, stored).status());
  return DiffersInChangeCounterAlone(stored, src);
}

absl::Status Transaction::Write(int64_t offset, Bytes src) {
  if (src.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool is_count, IsCount(offset, src));
  counted_ = counted_ || is_count;
  if (is_count) return absl::OkStatus();
  edited_ = true;
  if (offset > size_ || !chunksize_.has_value()) {
    RETURN_IF_ERROR(Extend(offset, std::ssize(src)));
  }
  const auto inside = static_cast<size_t>(std::clamp<int64_t>(size_ - offset, 0, std::ssize(src)));
  if (inside > 0) RETURN_IF_ERROR(writer_.WriteItems(offset, src.first(inside)));
  if (inside < src.size()) RETURN_IF_ERROR(writer_.Append(src.subspan(inside)));
  size_ = std::max(size_, offset + std::ssize(src));
  return absl::OkStatus();
}

absl::Status Transaction::Truncate(int64_t size) {
  if (size >= size_) return absl::OkStatus();
  const int64_t chunksize = *chunksize_;
  const int64_t first = size / chunksize;
  // The rest of the chunk that is cut is appended again after the complete ones.
  std::vector<std::byte> rest(static_cast<size_t>(size % chunksize));
  RETURN_IF_ERROR(Read(first * chunksize, rest).status());
  edited_ = true;
  const int64_t count = (size_ + chunksize - 1) / chunksize;
  RETURN_IF_ERROR(writer_.DeleteChunks(first, count - first));
  if (!rest.empty()) RETURN_IF_ERROR(writer_.Append(rest));
  size_ = size;
  return absl::OkStatus();
}

void Transaction::Rollback() {
  writer_.Rollback();
  Begin(base_);
}

absl::Status Transaction::StoreFirstPage() {
  std::vector<std::byte> page(static_cast<size_t>(std::min<int64_t>(*chunksize_, size_)));
  RETURN_IF_ERROR(Read(0, page).status());
  return writer_.WriteItems(0, page);
}

absl::Status Transaction::CutUnused() {
  std::array<std::byte, kSizeInPagesAt + sizeof(uint32_t)> begin;
  ASSIGN_OR_RETURN(const size_t there, Read(0, begin));
  if (there < begin.size()) return absl::OkStatus();
  const int64_t stored = NumberAt(begin, kPageSizeAt, sizeof(uint16_t));
  const int64_t page_size = stored == 1 ? kLargestPage : stored;
  const int64_t used = page_size * NumberAt(begin, kSizeInPagesAt, sizeof(uint32_t));
  return used > 0 ? Truncate(used) : absl::OkStatus();
}

absl::Status Transaction::Prepare(Durability durability) {
  if (!edited_) RETURN_IF_ERROR(StoreFirstPage());
  edited_ = true;
  if (!prepared_) RETURN_IF_ERROR(CutUnused());
  const absl::Status prepared = writer_.Prepare(durability);
  prepared_ = prepared.ok();
  // If this is not implemented, the commit does everything.
  return absl::IsUnimplemented(prepared) ? absl::OkStatus() : prepared;
}

absl::StatusOr<Snapshot> Transaction::Commit(Durability durability) {
  // The connection takes the next generation for its own.
  if (!edited_) RETURN_IF_ERROR(StoreFirstPage());
  ASSIGN_OR_RETURN(Snapshot committed, writer_.Commit(durability));
  Begin(committed);
  return committed;
}

}  // namespace cairn::sqlite
