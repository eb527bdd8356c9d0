#include "tools/sqlite/vfs/journal_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace cairn::sqlite {

namespace {

constexpr size_t kPiece = 64 << 10;

}  // namespace

JournalFile::~JournalFile() {
  if (moved_ != nullptr) moved_->pMethods->xClose(moved_);
}

int JournalFile::Read(int64_t offset, MutableBytes dst) {
  if (moved_ != nullptr) {
    return moved_->pMethods->xRead(moved_, dst.data(), static_cast<int>(dst.size()), offset);
  }
  const int64_t there = std::clamp<int64_t>(std::ssize(bytes_) - offset, 0, std::ssize(dst));
  if (there > 0) std::memcpy(dst.data(), bytes_.data() + offset, static_cast<size_t>(there));
  std::ranges::fill(dst.subspan(static_cast<size_t>(there)), std::byte{0});
  return there == std::ssize(dst) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int JournalFile::Write(int64_t offset, Bytes src) {
  const int64_t end = offset + std::ssize(src);
  if (moved_ == nullptr && end > kMostMemory) {
    if (const int code = MoveToDisk(); code != SQLITE_OK) return code;
  }
  if (moved_ != nullptr) {
    return moved_->pMethods->xWrite(moved_, src.data(), static_cast<int>(src.size()), offset);
  }
  if (end > std::ssize(bytes_)) bytes_.resize(static_cast<size_t>(end));
  std::memcpy(bytes_.data() + offset, src.data(), src.size());
  return SQLITE_OK;
}

int JournalFile::Truncate(int64_t size) {
  if (moved_ != nullptr) return moved_->pMethods->xTruncate(moved_, size);
  if (size < std::ssize(bytes_)) bytes_.resize(static_cast<size_t>(size));
  return SQLITE_OK;
}

int JournalFile::Size(int64_t& size) {
  sqlite3_int64 found = std::ssize(bytes_);
  const int code = moved_ == nullptr ? SQLITE_OK : moved_->pMethods->xFileSize(moved_, &found);
  size = found;
  return code;
}

int JournalFile::MoveToDisk() {
  auto memory = std::make_unique<std::byte[]>(static_cast<size_t>(disk_->szOsFile));
  auto* file = reinterpret_cast<sqlite3_file*>(memory.get());
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE |
                         SQLITE_OPEN_DELETEONCLOSE | SQLITE_OPEN_TEMP_JOURNAL;
  int code = disk_->xOpen(disk_, nullptr, file, kFlags, nullptr);
  // The unix VFS writes no more than 128 KiB at once.
  for (size_t at = 0; code == SQLITE_OK && at < bytes_.size(); at += kPiece) {
    const size_t size = std::min(kPiece, bytes_.size() - at);
    code = file->pMethods->xWrite(file, bytes_.data() + at, static_cast<int>(size),
                                  static_cast<sqlite3_int64>(at));
  }
  if (code != SQLITE_OK) {
    if (file->pMethods != nullptr) file->pMethods->xClose(file);
    return code;
  }
  moved_memory_ = std::move(memory);
  moved_ = file;
  bytes_ = {};
  return SQLITE_OK;
}

}  // namespace cairn::sqlite
