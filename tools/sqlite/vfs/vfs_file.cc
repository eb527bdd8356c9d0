#include "tools/sqlite/vfs/vfs_file.h"

#include <cstddef>

namespace cairn::sqlite {

namespace {

// Journal headers are as long as a sector.
constexpr int kSectorSize = 512;

VfsFile& FileOf(sqlite3_file* handle) { return *reinterpret_cast<VfsFileHandle*>(handle)->file; }

int Close(sqlite3_file* handle) {
  delete reinterpret_cast<VfsFileHandle*>(handle)->file;
  handle->pMethods = nullptr;
  return SQLITE_OK;
}

int Read(sqlite3_file* handle, void* data, int size, sqlite3_int64 offset) {
  return FileOf(handle).Read(offset, {static_cast<std::byte*>(data), static_cast<size_t>(size)});
}

int Write(sqlite3_file* handle, const void* data, int size, sqlite3_int64 offset) {
  return FileOf(handle).Write(offset,
                              {static_cast<const std::byte*>(data), static_cast<size_t>(size)});
}

int Truncate(sqlite3_file* handle, sqlite3_int64 size) { return FileOf(handle).Truncate(size); }

int Sync(sqlite3_file* handle, int flags) { return FileOf(handle).Sync(flags); }

int Size(sqlite3_file* handle, sqlite3_int64* size) {
  int64_t found = 0;
  const int code = FileOf(handle).Size(found);
  *size = found;
  return code;
}

int Lock(sqlite3_file* handle, int level) { return FileOf(handle).Lock(level); }

int Unlock(sqlite3_file* handle, int level) { return FileOf(handle).Unlock(level); }

int CheckReservedLock(sqlite3_file* handle, int* reserved) {
  return FileOf(handle).CheckReservedLock(*reserved);
}

int Control(sqlite3_file* handle, int op, void* arg) { return FileOf(handle).Control(op, arg); }

int SectorSize(sqlite3_file* /*handle*/) { return kSectorSize; }

int DeviceCharacteristics(sqlite3_file* handle) { return FileOf(handle).DeviceCharacteristics(); }

// Version 1 has no shared memory, and so no write-ahead log.
constexpr sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = Close,
    .xRead = Read,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = Size,
    .xLock = Lock,
    .xUnlock = Unlock,
    .xCheckReservedLock = CheckReservedLock,
    .xFileControl = Control,
    .xSectorSize = SectorSize,
    .xDeviceCharacteristics = DeviceCharacteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

}  // namespace

void AttachFile(sqlite3_file* handle, std::unique_ptr<VfsFile> file) {
  auto* ours = reinterpret_cast<VfsFileHandle*>(handle);
  ours->file = file.release();
  ours->base.pMethods = &kMethods;
}

}  // namespace cairn::sqlite
