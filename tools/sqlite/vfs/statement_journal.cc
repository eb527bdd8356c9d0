#include "tools/sqlite/vfs/statement_journal.h"

#include <algorithm>
#include <cstring>

namespace cairn::sqlite {

namespace {

constexpr size_t kPiece = 64 << 10;

}  // namespace

StatementJournal::StatementJournal(sqlite3_vfs* disk, int flags)
    : file_memory_(std::make_unique<std::byte[]>(static_cast<size_t>(disk->szOsFile))),
      file_(reinterpret_cast<sqlite3_file*>(file_memory_.get())) {
  if (disk->xOpen(disk, nullptr, file_, flags, nullptr) != SQLITE_OK) CloseFile();
}

StatementJournal::~StatementJournal() { CloseFile(); }

void StatementJournal::CloseFile() {
  if (file_ != nullptr && file_->pMethods != nullptr) file_->pMethods->xClose(file_);
  file_ = nullptr;
}

int StatementJournal::MoveToMemory() {
  sqlite3_int64 size = 0;
  int code = file_->pMethods->xFileSize(file_, &size);
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  for (size_t at = 0; code == SQLITE_OK && at < bytes.size(); at += kPiece) {
    const size_t piece = std::min(kPiece, bytes.size() - at);
    code = file_->pMethods->xRead(file_, bytes.data() + at, static_cast<int>(piece),
                                  static_cast<sqlite3_int64>(at));
  }
  if (code != SQLITE_OK) return code;
  bytes_ = std::move(bytes);
  CloseFile();
  return SQLITE_OK;
}

int StatementJournal::Read(int64_t offset, MutableBytes dst) {
  if (file_ != nullptr) {
    return file_->pMethods->xRead(file_, dst.data(), static_cast<int>(dst.size()), offset);
  }
  const int64_t there = std::clamp<int64_t>(std::ssize(bytes_) - offset, 0, std::ssize(dst));
  if (there > 0) std::memcpy(dst.data(), bytes_.data() + offset, static_cast<size_t>(there));
  std::ranges::fill(dst.subspan(static_cast<size_t>(there)), std::byte{0});
  return there == std::ssize(dst) ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

int StatementJournal::Write(int64_t offset, Bytes src) {
  if (file_ != nullptr) {
    const int size = static_cast<int>(src.size());
    if (file_->pMethods->xWrite(file_, src.data(), size, offset) == SQLITE_OK) return SQLITE_OK;
    if (const int code = MoveToMemory(); code != SQLITE_OK) return code;
  }
  const int64_t end = offset + std::ssize(src);
  if (end > std::ssize(bytes_)) bytes_.resize(static_cast<size_t>(end));
  std::memcpy(bytes_.data() + offset, src.data(), src.size());
  return SQLITE_OK;
}

int StatementJournal::Truncate(int64_t size) {
  if (file_ != nullptr) return file_->pMethods->xTruncate(file_, size);
  if (size < std::ssize(bytes_)) bytes_.resize(static_cast<size_t>(size));
  return SQLITE_OK;
}

int StatementJournal::Size(int64_t& size) {
  sqlite3_int64 found = std::ssize(bytes_);
  const int code = file_ == nullptr ? SQLITE_OK : file_->pMethods->xFileSize(file_, &found);
  size = found;
  return code;
}

}  // namespace cairn::sqlite
