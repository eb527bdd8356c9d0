#include "tools/sqlite/vfs/vfs.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "cairn/file_system.h"
#include "tools/sqlite/base/result_code.h"
#include "tools/sqlite/base/sqlite_api.h"
#include "tools/sqlite/vfs/commit_group.h"
#include "tools/sqlite/vfs/database_file.h"
#include "tools/sqlite/vfs/database_registry.h"
#include "tools/sqlite/vfs/journal_file.h"
#include "tools/sqlite/vfs/refused_file.h"
#include "tools/sqlite/vfs/statement_journal.h"
#include "tools/sqlite/vfs/temporary_file.h"
#include "tools/sqlite/vfs/writer_queue.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

// The VFS, which lives as long as the process.
struct Vfs {
  explicit Vfs(const VfsOptions& from) : options(from), databases(from) {}

  const VfsOptions options;
  sqlite3_vfs base = {};
  sqlite3_vfs* disk = nullptr;  // the default VFS at the time of registering
  DatabaseRegistry databases;
  WriterQueue queue;
  CommitGroup group;
};

Vfs& VfsOf(sqlite3_vfs* base) { return *static_cast<Vfs*>(base->pAppData); }

enum class Content { kNothing, kEmpty, kSqlite, kOther };

absl::StatusOr<Content> LookAt(FileSystem& files, const std::string& path) {
  const absl::StatusOr<std::unique_ptr<File>> file = files.Open(path, FileMode::kRead);
  if (absl::IsNotFound(file.status())) return Content::kNothing;
  RETURN_IF_ERROR(file.status());
  std::string begin(kSqliteMagic.size(), '\0');
  ASSIGN_OR_RETURN(const size_t got,
                   (*file)->ReadSome(0, std::as_writable_bytes(std::span(begin))));
  if (got == 0) return Content::kEmpty;
  return begin == kSqliteMagic ? Content::kSqlite : Content::kOther;
}

// Returns the code of a database that is not opened. SQLite's words for some codes would be wrong
// here.
int CodeOfRefusal(const absl::Status& status) {
  const int code = ResultCodeOf(status);
  return code == SQLITE_NOTADB || code == SQLITE_IOERR ? SQLITE_CANTOPEN : code;
}

int Refuse(const absl::Status& status, sqlite3_file* handle, int flags, int* out_flags) {
  const int code = CodeOfRefusal(status);
  const std::string message(status.message());
  sqlite3_log(code, "cairn: %s", message.c_str());
  AttachFile(handle, std::make_unique<RefusedFile>(code, message));
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

// Refuses a path. If the system does not give the file, the error is that of any VFS, because
// programs know its words, and ATTACH names the file.
int RefusePath(const absl::Status& status, sqlite3_file* handle, int flags, int* out_flags) {
  if (!absl::IsNotFound(status) && !absl::IsPermissionDenied(status)) {
    return Refuse(status, handle, flags, out_flags);
  }
  LogFailure(status);
  return SQLITE_CANTOPEN;
}

// Returns true if nothing can be written, so that opening makes and changes no file. SQLite tells
// the VFS only of `mode=ro`.
bool IsOnlyRead(const char* name, int flags) {
  return (flags & SQLITE_OPEN_READWRITE) == 0 ||
         sqlite3_uri_parameter(name, "generation") != nullptr ||
         sqlite3_uri_boolean(name, "immutable", 0) != 0;
}

// Errors: kNotFound if the database is only read.
absl::Status MakeFrame(Vfs& vfs, const char* name, bool is_only_read) {
  ASSIGN_OR_RETURN(const DatabaseOptions options, ParseDatabaseOptions(name));
  if (is_only_read) return absl::NotFoundError(absl::StrCat(name, ": does not exist"));
  return Database::Create(name, options, vfs.options);
}

// Returns the database in the frame that is there, or null if another file is there.
absl::StatusOr<std::shared_ptr<Database>> OpenFrame(Vfs& vfs, const char* name) {
  const absl::StatusOr<DatabaseOptions> options = ParseDatabaseOptions(name);
  absl::StatusOr<std::shared_ptr<Database>> database =
      vfs.databases.Open(name, options.value_or(DatabaseOptions()));
  if (absl::IsInvalidArgument(database.status())) return std::shared_ptr<Database>();
  RETURN_IF_ERROR(options.status());
  return database;
}

// Opens a file that is not a frame. A connection to one state of the past must not write another.
int OpenOther(Vfs& vfs, const char* name, sqlite3_file* handle, int flags, int* out_flags) {
  const char* const generation = sqlite3_uri_parameter(name, "generation");
  if (generation == nullptr) return vfs.disk->xOpen(vfs.disk, name, handle, flags, out_flags);
  const absl::Status refusal = absl::InvalidArgumentError(
      absl::StrCat("URI parameter generation=", generation, ": ", name,
                   ": expected a frame: other files have no generations"));
  return Refuse(refusal, handle, flags, out_flags);
}

int OpenDatabase(Vfs& vfs, const char* name, sqlite3_file* handle, int flags, int* out_flags) {
  const std::string path = name;
  const bool is_only_read = IsOnlyRead(name, flags);
  const absl::StatusOr<Content> content = LookAt(*vfs.options.files, path);
  if (!content.ok()) return RefusePath(content.status(), handle, flags, out_flags);
  if (*content == Content::kSqlite || (*content == Content::kEmpty && is_only_read)) {
    return OpenOther(vfs, name, handle, flags, out_flags);
  }
  if (*content == Content::kNothing && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
  if (*content != Content::kOther) {
    const absl::Status made = MakeFrame(vfs, name, is_only_read);
    if (!made.ok()) return RefusePath(made, handle, flags, out_flags);
  }
  absl::StatusOr<std::shared_ptr<Database>> database = OpenFrame(vfs, name);
  if (!database.ok()) return Refuse(database.status(), handle, flags, out_flags);
  // SQLite itself reports a file that is neither a frame nor a database. It may also be one that
  // SQLite can decrypt.
  if (*database == nullptr) return OpenOther(vfs, name, handle, flags, out_flags);
  const bool writable = !is_only_read && (*database)->IsWritable() &&
                        vfs.options.files->Open(path, FileMode::kReadWrite).ok();
  if (out_flags != nullptr) {
    *out_flags =
        writable ? flags
                 : (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
  }
  std::shared_ptr<const void> journals = vfs.databases.NoteJournals(name, *database);
  AttachFile(handle, std::make_unique<DatabaseFile>(*std::move(database), std::move(journals),
                                                    !writable, vfs.queue, vfs.group, vfs.disk));
  return SQLITE_OK;
}

int OpenTemporary(Vfs& vfs, const std::string& folder, sqlite3_file* handle, int flags,
                  int* out_flags) {
  auto file = std::make_unique<TemporaryFile>(vfs.disk, folder);
  if (const int code = file->Open(flags); code != SQLITE_OK) return code;
  AttachFile(handle, std::move(file));
  if (out_flags != nullptr) *out_flags = flags;
  return SQLITE_OK;
}

int Open(sqlite3_vfs* base, const char* name, sqlite3_file* handle, int flags, int* out_flags) {
  Vfs& vfs = VfsOf(base);
  handle->pMethods = nullptr;
  if (name == nullptr && (flags & SQLITE_OPEN_SUBJOURNAL) != 0) {
    // Its file is one more temporary file of this VFS.
    const int file_flags = (flags & ~SQLITE_OPEN_SUBJOURNAL) | SQLITE_OPEN_TEMP_JOURNAL;
    AttachFile(handle, std::make_unique<StatementJournal>(&vfs.base, file_flags));
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }
  if (name == nullptr) {
    // SQLite does not tell for which database it needs the file.
    const std::string folder = vfs.databases.TemporaryFolder();
    if (!folder.empty()) return OpenTemporary(vfs, folder, handle, flags, out_flags);
  }
  if (name != nullptr && (flags & SQLITE_OPEN_MAIN_DB) != 0) {
    return OpenDatabase(vfs, name, handle, flags, out_flags);
  }
  if (std::shared_ptr<Database> database = vfs.databases.OfJournal(name); database != nullptr) {
    // There is no write-ahead log in exclusive mode either.
    if ((flags & SQLITE_OPEN_WAL) != 0) return SQLITE_CANTOPEN;
    AttachFile(handle, std::make_unique<JournalFile>(std::move(database)));
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }
  return vfs.disk->xOpen(vfs.disk, name, handle, flags, out_flags);
}

int Delete(sqlite3_vfs* base, const char* name, int sync) {
  Vfs& vfs = VfsOf(base);
  if (vfs.databases.OfJournal(name) != nullptr) return SQLITE_OK;
  return vfs.disk->xDelete(vfs.disk, name, sync);
}

int Access(sqlite3_vfs* base, const char* name, int what, int* result) {
  Vfs& vfs = VfsOf(base);
  if (vfs.databases.OfJournal(name) != nullptr) {
    *result = 0;
    return SQLITE_OK;
  }
  return vfs.disk->xAccess(vfs.disk, name, what, result);
}

int FullPathname(sqlite3_vfs* base, const char* name, int size, char* path) {
  sqlite3_vfs* disk = VfsOf(base).disk;
  return disk->xFullPathname(disk, name, size, path);
}

void* DlOpen(sqlite3_vfs* base, const char* path) {
  sqlite3_vfs* disk = VfsOf(base).disk;
  return disk->xDlOpen(disk, path);
}

void DlError(sqlite3_vfs* base, int size, char* message) {
  sqlite3_vfs* disk = VfsOf(base).disk;
  disk->xDlError(disk, size, message);
}

void (*DlSym(sqlite3_vfs* base, void* library, const char* symbol))(void) {
  sqlite3_vfs* disk = VfsOf(base).disk;
  return disk->xDlSym(disk, library, symbol);
}

void DlClose(sqlite3_vfs* base, void* library) {
  sqlite3_vfs* disk = VfsOf(base).disk;
  disk->xDlClose(disk, library);
}

int Randomness(sqlite3_vfs* base, int size, char* bytes) {
  sqlite3_vfs* disk = VfsOf(base).disk;
  return disk->xRandomness(disk, size, bytes);
}

int Sleep(sqlite3_vfs* base, int microseconds) {
  Vfs& vfs = VfsOf(base);
  if (vfs.queue.Wait(std::chrono::microseconds(microseconds))) return microseconds;
  return vfs.disk->xSleep(vfs.disk, microseconds);
}

int CurrentTime(sqlite3_vfs* base, double* days) {
  sqlite3_vfs* disk = VfsOf(base).disk;
  return disk->xCurrentTime(disk, days);
}

int GetLastError(sqlite3_vfs* base, int size, char* message) {
  sqlite3_vfs* disk = VfsOf(base).disk;
  return disk->xGetLastError == nullptr ? 0 : disk->xGetLastError(disk, size, message);
}

int CurrentTimeInt64(sqlite3_vfs* base, sqlite3_int64* milliseconds) {
  sqlite3_vfs* disk = VfsOf(base).disk;
  return disk->xCurrentTimeInt64(disk, milliseconds);
}

}  // namespace

int RegisterVfs(const char* name, const VfsOptions& options) {
  if (sqlite3_vfs_find(name) != nullptr) return SQLITE_OK;
  sqlite3_vfs* disk = sqlite3_vfs_find(nullptr);
  if (disk == nullptr || disk->iVersion < 2) return SQLITE_ERROR;
  auto vfs = std::make_unique<Vfs>(options);
  vfs->disk = disk;
  vfs->base = {
      .iVersion = 2,
      .szOsFile = std::max<int>(disk->szOsFile, sizeof(VfsFileHandle)),
      .mxPathname = disk->mxPathname,
      .pNext = nullptr,
      .zName = name,
      .pAppData = vfs.get(),
      .xOpen = Open,
      .xDelete = Delete,
      .xAccess = Access,
      .xFullPathname = FullPathname,
      .xDlOpen = DlOpen,
      .xDlError = DlError,
      .xDlSym = DlSym,
      .xDlClose = DlClose,
      .xRandomness = Randomness,
      .xSleep = Sleep,
      .xCurrentTime = CurrentTime,
      .xGetLastError = GetLastError,
      .xCurrentTimeInt64 = CurrentTimeInt64,
      .xSetSystemCall = nullptr,
      .xGetSystemCall = nullptr,
      .xNextSystemCall = nullptr,
  };
  if (const int code = TellRefusals(); code != SQLITE_OK) return code;
  const int code = sqlite3_vfs_register(&vfs->base, /*makeDflt=*/0);
  if (code == SQLITE_OK)
    std::ignore = vfs.release();  // SQLite has it, as long as the process lives
  return code;
}

int MakeVfsDefault(const char* name) {
  return sqlite3_vfs_register(sqlite3_vfs_find(name), /*makeDflt=*/1);
}

}  // namespace cairn::sqlite
