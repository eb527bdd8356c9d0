#include "tools/sqlite/vfs/temporary_file.h"

#include "absl/strings/str_cat.h"

namespace cairn::sqlite {

namespace {

uint64_t RandomNumber() {
  uint64_t number = 0;
  sqlite3_randomness(sizeof number, &number);
  return number;
}

}  // namespace

TemporaryFile::TemporaryFile(sqlite3_vfs* disk, const std::string& folder)
    : disk_(disk),
      name_(absl::StrCat(folder, "/cairn-", absl::Hex(RandomNumber(), absl::kZeroPad16))),
      memory_(std::make_unique<std::byte[]>(static_cast<size_t>(disk->szOsFile))),
      file_(reinterpret_cast<sqlite3_file*>(memory_.get())) {
  name_.push_back('\0');  // SQLite ends names with two zeros, where parameters could follow
}

TemporaryFile::~TemporaryFile() {
  if (file_->pMethods != nullptr) file_->pMethods->xClose(file_);
}

int TemporaryFile::Open(int flags) {
  return disk_->xOpen(disk_, name_.c_str(), file_, flags, nullptr);
}

int TemporaryFile::Read(int64_t offset, MutableBytes dst) {
  return file_->pMethods->xRead(file_, dst.data(), static_cast<int>(dst.size()), offset);
}

int TemporaryFile::Write(int64_t offset, Bytes src) {
  return file_->pMethods->xWrite(file_, src.data(), static_cast<int>(src.size()), offset);
}

int TemporaryFile::Truncate(int64_t size) { return file_->pMethods->xTruncate(file_, size); }

int TemporaryFile::Size(int64_t& size) {
  sqlite3_int64 found = 0;
  const int code = file_->pMethods->xFileSize(file_, &found);
  size = found;
  return code;
}

}  // namespace cairn::sqlite
