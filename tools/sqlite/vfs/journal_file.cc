#include "tools/sqlite/vfs/journal_file.h"

#include <algorithm>
#include <cstring>

#include "tools/sqlite/base/result_code.h"
#include "tools/sqlite/vfs/transaction.h"

namespace cairn::sqlite {

namespace {

constexpr int64_t kNumber = 4;

// Copies the part of `src`, which lies at `at`, for which dst at `offset` has room.
void CopyPart(int64_t at, Bytes src, int64_t offset, MutableBytes dst) {
  const int64_t begin = std::max(at, offset);
  const int64_t end = std::min(at + std::ssize(src), offset + std::ssize(dst));
  if (begin < end) {
    std::memcpy(dst.data() + (begin - offset), src.data() + (begin - at),
                static_cast<size_t>(end - begin));
  }
}

// Returns the last entry that begins at `offset` or before, or the first.
template <typename Map>
auto LastBefore(Map& map, int64_t offset) {
  auto it = map.upper_bound(offset);
  return it == map.begin() ? it : --it;
}

}  // namespace

// A page may have been read before the writer was taken, so it is compared. The first one is stored
// with another change counter than SQLite sees.
bool JournalFile::IsCommittedPage(int64_t offset, Bytes src) {
  const auto number = pieces_.find(offset - kNumber);
  if (number == pieces_.end() || std::ssize(number->second) != kNumber) return false;
  if (page_size_ != 0 && page_size_ != std::ssize(src)) return false;
  Record record;
  std::ranges::copy(number->second, record.page.begin());
  if (!committed_.has_value()) committed_ = database_->frame().snapshot();
  std::vector<std::byte> page(src.size());
  if (!ReadPage(record, page).ok() || !std::ranges::equal(page, src)) return false;
  page_size_ = std::ssize(src);
  return true;
}

absl::Status JournalFile::ReadPage(const Record& record, MutableBytes page) const {
  int64_t number = 0;
  for (const std::byte digit : record.page) number = number << 8 | static_cast<int>(digit);
  if (number == 0) return absl::OutOfRangeError("there is no page 0");
  const absl::StatusOr<size_t> got = ReadSome(*committed_, (number - 1) * std::ssize(page), page);
  if (!got.ok() || *got == page.size()) return got.status();
  return absl::OutOfRangeError("the committed database has no such page");
}

// Adds a record for the page whose number was written before `offset`.
void JournalFile::AddRecord(int64_t offset) {
  const int64_t begin = offset - kNumber;
  const auto number = pieces_.find(begin);
  Record record = {};
  std::ranges::copy(number->second, record.page.begin());
  pieces_.erase(number);
  if (!runs_.empty()) {
    auto& [run_begin, run] = *LastBefore(runs_, begin);
    if (run_begin + std::ssize(run) * RecordSize() == begin) return run.push_back(record);
  }
  runs_[begin] = {record};
}

// Returns true if these bytes are the checksum of the record that was added last.
bool JournalFile::TakeChecksum(int64_t offset, Bytes src) {
  if (std::ssize(src) != kNumber || runs_.empty()) return false;
  auto& [begin, run] = *LastBefore(runs_, offset);
  if (begin + std::ssize(run) * RecordSize() != offset + kNumber) return false;
  std::ranges::copy(src, run.back().checksum.begin());
  return true;
}

// Stores bytes in the place of old ones, which must be in one piece, or where there are none.
void JournalFile::Store(int64_t offset, Bytes src) {
  if (!pieces_.empty()) {
    auto& [begin, piece] = *LastBefore(pieces_, offset);
    if (begin <= offset && offset + std::ssize(src) <= begin + std::ssize(piece)) {
      std::ranges::copy(src, piece.begin() + (offset - begin));
      return;
    }
  }
  pieces_[offset].assign(src.begin(), src.end());
}

int JournalFile::Write(int64_t offset, Bytes src) {
  const int64_t end = offset + std::ssize(src);
  if (offset == 0) Forget(0);  // another journal begins
  size_ = std::max(size_, end);
  if (TakeChecksum(offset, src)) return SQLITE_OK;
  // SQLite writes one record after the other, and goes back only to headers.
  if (offset < EndOfRuns() && !pieces_.contains(offset)) {
    return LogFailure(absl::InternalError("a record of the rollback journal is written twice"));
  }
  if (offset < std::ssize(bytes_) || end <= kMostMemory) {
    if (end > std::ssize(bytes_)) bytes_.resize(static_cast<size_t>(end));
    std::memcpy(bytes_.data() + offset, src.data(), src.size());
  } else if (std::ssize(src) > kNumber && IsCommittedPage(offset, src)) {
    AddRecord(offset);
  } else {
    Store(offset, src);
  }
  return SQLITE_OK;
}

int64_t JournalFile::EndOfRuns() const {
  if (runs_.empty()) return 0;
  const auto& [begin, run] = *std::prev(runs_.end());
  return begin + std::ssize(run) * RecordSize();
}

absl::Status JournalFile::ReadRun(int64_t begin, const Run& run, int64_t offset,
                                  MutableBytes dst) const {
  const int64_t first = std::max<int64_t>(offset - begin, 0) / RecordSize();
  std::vector<std::byte> page(static_cast<size_t>(page_size_));
  for (int64_t i = first; i < std::ssize(run); ++i) {
    const int64_t at = begin + i * RecordSize();
    if (at >= offset + std::ssize(dst)) break;
    const Record& record = run[static_cast<size_t>(i)];
    const bool wants_page =
        offset < at + kNumber + page_size_ && offset + std::ssize(dst) > at + kNumber;
    if (wants_page) {
      const absl::Status read = ReadPage(record, page);
      if (!read.ok()) return read;
      CopyPart(at + kNumber, page, offset, dst);
    }
    CopyPart(at, record.page, offset, dst);
    CopyPart(at + kNumber + page_size_, record.checksum, offset, dst);
  }
  return absl::OkStatus();
}

int JournalFile::Read(int64_t offset, MutableBytes dst) {
  std::ranges::fill(dst, std::byte{0});
  CopyPart(0, bytes_, offset, dst);
  const int64_t end = offset + std::ssize(dst);
  if (!pieces_.empty()) {
    for (auto it = LastBefore(pieces_, offset); it != pieces_.end() && it->first < end; ++it) {
      CopyPart(it->first, it->second, offset, dst);
    }
  }
  if (!runs_.empty()) {
    for (auto it = LastBefore(runs_, offset); it != runs_.end() && it->first < end; ++it) {
      const absl::Status read = ReadRun(it->first, it->second, offset, dst);
      if (!read.ok()) return LogFailure(read);
    }
  }
  return end <= size_ ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

// Forgets everything from there on, except the first bytes.
void JournalFile::Forget(int64_t from) {
  pieces_.erase(pieces_.lower_bound(from), pieces_.end());
  runs_.erase(runs_.lower_bound(from), runs_.end());
  if (!runs_.empty()) {
    auto& [begin, run] = *std::prev(runs_.end());
    const auto kept = static_cast<size_t>((from - begin) / RecordSize());
    if (kept < run.size()) run.resize(kept);
    if (run.empty()) runs_.erase(std::prev(runs_.end()));
  }
  if (!runs_.empty()) return;
  page_size_ = 0;
  committed_.reset();
}

int JournalFile::Truncate(int64_t size) {
  if (size < std::ssize(bytes_)) bytes_.resize(static_cast<size_t>(size));
  if (size < size_) Forget(size);
  size_ = std::min(size_, size);
  return SQLITE_OK;
}

int JournalFile::Size(int64_t& size) {
  size = size_;
  return SQLITE_OK;
}

}  // namespace cairn::sqlite
