#include "tools/sqlite/vfs/database_file.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "tools/sqlite/base/result_code.h"
#include "tools/sqlite/vfs/change_counter.h"
#include "tools/sqlite/vfs/database_pragmas.h"
#include "tools/status.h"

namespace cairn::sqlite {

namespace {

// These bytes of the first page are 2 if a database is in write-ahead mode, which no frame is.
constexpr int64_t kWriteVersionAt = 18;
constexpr int64_t kReadVersionAt = 19;
constexpr std::byte kRollbackMode{1};
constexpr std::byte kWriteAheadMode{2};

// These bytes of the first page tell the version of the database. SQLite reads them, and no others
// with them, when it begins a transaction. If they differ from those before, its cache is stale.
constexpr int64_t kVersionAt = 24;
constexpr size_t kVersionSize = 16;

bool IsWriteAhead(int64_t offset, Bytes page) {
  return offset == 0 && std::ssize(page) > kReadVersionAt &&
         (page[kWriteVersionAt] == kWriteAheadMode || page[kReadVersionAt] == kWriteAheadMode);
}

bool IsSameState(const Snapshot& a, const Snapshot& b) {
  return a == b || (a.file() == b.file() && a.info().generation == b.info().generation &&
                    a.info().nbytes == b.info().nbytes && a.info().cbytes == b.info().cbytes);
}

// Compares everything from that position on.
absl::StatusOr<bool> HaveSameEnd(const Snapshot& a, const Snapshot& b, int64_t from) {
  std::vector<std::byte> end_of_a(static_cast<size_t>(a.info().nbytes - from));
  std::vector<std::byte> end_of_b(end_of_a.size());
  RETURN_IF_ERROR(a.ReadBytes(from, end_of_a));
  RETURN_IF_ERROR(b.ReadBytes(from, end_of_b));
  return end_of_a == end_of_b;
}

// Returns true if both states have the same bytes. A writer that opens after a crash, and a
// compaction, make a generation that changes no byte. Chunks are compared by their fingerprints,
// and only if their sizes are equal. An incomplete one at the end, which may have no fingerprint
// and no size of its own, is compared byte by byte.
absl::StatusOr<bool> IsSameDatabase(const Snapshot& a, const Snapshot& b) {
  if (IsSameState(a, b)) return true;
  const FrameInfo& info = a.info();
  if (info.nchunks != b.info().nchunks || info.nbytes != b.info().nbytes ||
      info.chunksize != b.info().chunksize) {
    return false;
  }
  const int64_t chunksize = info.chunksize.value_or(1);
  const int64_t complete = info.nbytes / chunksize;
  const bool is_complete = complete * chunksize == info.nbytes;
  if (is_complete && info.cbytes != b.info().cbytes) return false;
  for (int64_t i = 0; i < complete; ++i) {
    ASSIGN_OR_RETURN(const ChunkEntry entry_of_a, a.GetEntry(i));
    ASSIGN_OR_RETURN(const ChunkEntry entry_of_b, b.GetEntry(i));
    const bool is_known =
        entry_of_a.fingerprint.has_value() || entry_of_a.special != SpecialValue::kNone;
    if (!is_known || entry_of_a.fingerprint != entry_of_b.fingerprint ||
        entry_of_a.special != entry_of_b.special) {
      return false;
    }
  }
  return is_complete ? true : HaveSameEnd(a, b, complete * chunksize);
}

}  // namespace

DatabaseFile::~DatabaseFile() {
  EndTransaction();
  queue_.Forget(this);
}

// Returns the newest state if there is no snapshot, because SQLite looks at the header before it
// has a lock.
Snapshot DatabaseFile::Visible() const {
  return snapshot_.has_value() ? *snapshot_ : database_->frame().snapshot();
}

absl::StatusOr<size_t> DatabaseFile::ReadStored(int64_t offset, MutableBytes dst) {
  return transaction_.has_value() ? transaction_->Read(offset, dst)
                                  : ReadSome(Visible(), offset, dst);
}

absl::StatusOr<size_t> DatabaseFile::ReadCounted(int64_t offset, MutableBytes dst) {
  if (offset >= kChangeCounterEnd) return ReadStored(offset, dst);
  std::array<std::byte, kChangeCounterEnd> begin;
  ASSIGN_OR_RETURN(const size_t there, ReadStored(0, begin));
  // SQLite counts the transactions of an empty database, which is a first generation, from 0.
  PutChangeCounter(Visible().info().generation - 1, MutableBytes(begin).first(there));
  // A packed database may be in write-ahead mode, and SQLite opens such a database only if there is
  // shared memory. Its first transaction stores the other mode.
  if (IsWriteAhead(0, Bytes(begin).first(there))) {
    begin[kWriteVersionAt] = begin[kReadVersionAt] = kRollbackMode;
  }
  const size_t from = std::min(there, static_cast<size_t>(offset));
  const size_t got = std::min(there - from, dst.size());
  std::ranges::copy(Bytes(begin).subspan(from, got), dst.begin());
  if (got == dst.size() || there < begin.size()) return got;
  ASSIGN_OR_RETURN(const size_t more, ReadStored(kChangeCounterEnd, dst.subspan(got)));
  return got + more;
}

int DatabaseFile::Read(int64_t offset, MutableBytes dst) {
  if (offset == kVersionAt && dst.size() == kVersionSize) {
    if (const int code = BeginAnew(); code != SQLITE_OK) return code;
    if (cached_.TakeStale()) {
      std::ranges::fill(dst, std::byte{0});  // no database that has pages has this version
      return SQLITE_OK;
    }
  }
  const absl::StatusOr<size_t> got = ReadCounted(offset, dst);
  if (!got.ok()) return LogFailure(got.status());
  cached_.Shift(offset, dst.first(*got));
  if (*got == dst.size()) return SQLITE_OK;
  std::ranges::fill(dst.subspan(*got), std::byte{0});
  return SQLITE_IOERR_SHORT_READ;
}

// Begins again after a failure. With locking_mode=EXCLUSIVE the lock stays, so the writer is taken
// again.
int DatabaseFile::BeginAnew() {
  if (!failed_) return SQLITE_OK;
  EndTransaction();
  snapshot_.reset();
  if (level_ >= SQLITE_LOCK_SHARED) {
    if (const absl::Status taken = TakeSnapshot(); !taken.ok()) return LogFailure(taken);
  }
  if (level_ >= SQLITE_LOCK_RESERVED) {
    if (const int code = BeginTransaction(); code != SQLITE_OK) return code;
  }
  failed_ = false;
  return SQLITE_OK;
}

int DatabaseFile::NoteFailure(const absl::Status& status) {
  if (!status.ok()) failed_ = true;
  return LogFailure(status);
}

// Only a rollback writes to a transaction that is prepared. It restores the old pages.
void DatabaseFile::DropPrepared() {
  if (!prepared_size_.has_value()) return;
  transaction_->Rollback();
  prepared_size_.reset();
}

int DatabaseFile::Write(int64_t offset, Bytes src) {
  if (const int code = EnsureTransaction(); code != SQLITE_OK) return code;
  DropPrepared();
  // A rollback syncs as a commit does, and with locking_mode=EXCLUSIVE it does not unlock. Another
  // connection that commits must not prepare the transaction that follows.
  LeaveGroup();
  const bool is_write_ahead = IsWriteAhead(offset, src);
  const bool is_shifted = cached_.IsShifted(offset, src);
  if (!is_write_ahead && !is_shifted) return NoteFailure(Stage(offset, src));
  std::vector<std::byte> page(src.begin(), src.end());
  if (is_write_ahead) {
    page[kWriteVersionAt] = page[kReadVersionAt] = kRollbackMode;
    // By the page that it has written, SQLite would take this for a database in write-ahead mode.
    cached_.Outdate();
  }
  if (is_shifted) cached_.Unshift(page);
  return NoteFailure(Stage(offset, page));
}

// Stages a page. A failure after the last commit, which stands, has stopped the writer. With
// locking_mode=EXCLUSIVE the next transaction follows without a lock, and takes the writer again.
absl::Status DatabaseFile::Stage(int64_t offset, Bytes page) {
  const bool is_first = !transaction_->staged();
  absl::Status written = transaction_->Write(offset, page);
  if (!is_first || !absl::IsFailedPrecondition(written)) return written;
  transaction_.reset();
  database_->Release(this, Database::Outcome::kFailed);
  return BeginTransaction() == SQLITE_OK ? transaction_->Write(offset, page) : written;
}

int DatabaseFile::Truncate(int64_t size) {
  if (const int code = EnsureTransaction(); code != SQLITE_OK) return code;
  if (size == transaction_->size()) return SQLITE_OK;
  if (prepared_size_.has_value()) {
    // A rollback returns to the committed size. Prepare has cut everything else that a commit cuts.
    DropPrepared();
    if (size == transaction_->size()) return SQLITE_OK;
    return NoteFailure(absl::InternalError("a transaction that is prepared was to be cut"));
  }
  return NoteFailure(transaction_->Truncate(size));
}

int DatabaseFile::Sync(int /*flags*/) {
  sync_ = true;
  return prepared_size_.has_value() ? Prepare() : SQLITE_OK;
}

int DatabaseFile::NoteWritten(bool is_one_of_many) {
  if (!transaction_.has_value() || !transaction_->edited()) return SQLITE_OK;
  std::vector<DatabaseFile*> others;
  const void* connection = this;  // a SQLite too old to tell it commits each database alone
  if (connection_ != nullptr) connection = *connection_;
  if (!is_in_group_) others = group_.Enter(connection, this);
  is_in_group_ = true;
  // Without a super-journal this is the first notice.
  for (DatabaseFile* const other : others) {
    if (const int code = other->Prepare(); code != SQLITE_OK) return code;
  }
  return is_one_of_many || !others.empty() ? Prepare() : SQLITE_OK;
}

int DatabaseFile::Prepare() {
  if (failed_ || !transaction_.has_value()) return SQLITE_IOERR;
  const int64_t size = prepared_size_.value_or(transaction_->size());
  const absl::Status prepared = transaction_->Prepare(CommitDurability());
  if (!prepared.ok()) return NoteFailure(prepared) == SQLITE_FULL ? SQLITE_FULL : SQLITE_IOERR;
  prepared_size_ = size;
  return SQLITE_OK;
}

void DatabaseFile::LeaveGroup() {
  if (std::exchange(is_in_group_, false)) group_.Leave(this);
  prepared_size_.reset();
}

// SQLite asks for the size when it begins a transaction or a rollback, not between its writes.
int DatabaseFile::Size(int64_t& size) {
  if (const int code = BeginAnew(); code != SQLITE_OK) return code;
  if (transaction_.has_value()) {
    size = prepared_size_.value_or(transaction_->size());
  } else {
    size = Visible().info().nbytes;
  }
  return SQLITE_OK;
}

// A forked child is refused, because its connection would share SQLite's cache with the parent's.
absl::Status DatabaseFile::TakeSnapshot() {
  RETURN_IF_ERROR(database_->CheckProcess());
  ASSIGN_OR_RETURN(snapshot_, database_->frame().Refresh());
  cached_.Follow(snapshot_->file());
  return absl::OkStatus();
}

int DatabaseFile::BeginTransaction() {
  if (read_only_) return SQLITE_READONLY;
  const absl::Status acquired = database_->Acquire(this, std::chrono::milliseconds(0));
  if (absl::IsUnavailable(acquired)) {
    queue_.NoteRefused(database_, this);
    return SQLITE_BUSY;
  }
  if (absl::IsNotFound(acquired)) {
    LogFailure(acquired);
    return SQLITE_READONLY_DBMOVED;
  }
  if (!acquired.ok()) return LogFailure(acquired);
  Snapshot newest = database_->frame().snapshot();
  if (snapshot_.has_value()) {
    const absl::StatusOr<bool> same = IsSameDatabase(*snapshot_, newest);
    if (!same.ok() || !*same) database_->Release(this, Database::Outcome::kDurable);
    if (!same.ok()) return LogFailure(same.status());
    if (!*same) {
      queue_.NoteRefused(database_, this);
      return SQLITE_BUSY_SNAPSHOT;
    }
  }
  snapshot_ = newest;
  transaction_.emplace(database_->writer(), std::move(newest));
  sync_ = false;
  vacuums_ = false;
  return SQLITE_OK;
}

// A connection with nolock=1 asks for no lock.
int DatabaseFile::EnsureTransaction() {
  if (failed_) return SQLITE_IOERR;
  return transaction_.has_value() ? SQLITE_OK : BeginTransaction();
}

void DatabaseFile::EndTransaction() {
  LeaveGroup();
  if (transaction_.has_value() && transaction_->edited()) transaction_->Rollback();
  transaction_.reset();
  database_->Release(this, failed_ ? Database::Outcome::kFailed : outcome_);
}

int DatabaseFile::Lock(int level) {
  if (level <= level_) return SQLITE_OK;
  if (!snapshot_.has_value()) {
    if (const absl::Status taken = TakeSnapshot(); !taken.ok()) return LogFailure(taken);
  }
  if (level >= SQLITE_LOCK_RESERVED) {
    if (const int code = EnsureTransaction(); code != SQLITE_OK) return code;
  }
  level_ = level;
  return SQLITE_OK;
}

int DatabaseFile::Unlock(int level) {
  if (level < SQLITE_LOCK_RESERVED) {
    EndTransaction();
    failed_ = false;
  }
  if (level == SQLITE_LOCK_NONE) snapshot_.reset();
  level_ = std::min(level_, level);
  return SQLITE_OK;
}

int DatabaseFile::CheckReservedLock(int& reserved) {
  reserved = database_->IsOwned() ? 1 : 0;
  return SQLITE_OK;
}

Durability DatabaseFile::CommitDurability() const {
  const Durability asked = sync_ ? Durability::kMachine : Durability::kProcess;
  return database_->options().durability.value_or(asked);
}

int DatabaseFile::Commit() {
  if (!transaction_.has_value() || !transaction_->edited()) return SQLITE_OK;
  LeaveGroup();
  const Durability durability = CommitDurability();
  absl::StatusOr<Snapshot> committed = transaction_->Commit(durability);
  if (!committed.ok()) {
    // After any other code SQLite would take its cache for the committed state.
    return NoteFailure(committed.status()) == SQLITE_FULL ? SQLITE_FULL : SQLITE_IOERR;
  }
  database_->NoteCommit(durability);
  snapshot_ = *std::move(committed);
  cached_.Become(snapshot_->file());
  outcome_ = durability == Durability::kMachine ? Database::Outcome::kDurable
                                                : Database::Outcome::kNotDurable;
  sync_ = false;
  if (std::exchange(vacuums_, false)) GiveBackSpace();
  if (level_ < SQLITE_LOCK_RESERVED) EndTransaction();
  return SQLITE_OK;
}

// The commit stands whatever the result is. No snapshot of this connection keeps anything, because
// it continues with the state that this leaves, which is the same database.
void DatabaseFile::GiveBackSpace() {
  transaction_.reset();
  snapshot_.reset();
  failed_ = !database_->GiveBackSpace().ok();
  snapshot_ = database_->frame().snapshot();
  transaction_.emplace(database_->writer(), *snapshot_);
}

int DatabaseFile::Pragma(char** arguments) {
  if (arguments[2] != nullptr && sqlite3_stricmp(arguments[1], "journal_mode") == 0 &&
      sqlite3_stricmp(arguments[2], "wal") == 0) {
    // SQLite with locking_mode=EXCLUSIVE would begin a write-ahead log. An unknown mode asks SQLite
    // for the one that holds.
    *arguments[2] = '?';
    return SQLITE_NOTFOUND;
  }
  const std::string_view name = arguments[1];
  const std::optional<std::string_view> value =
      arguments[2] == nullptr ? std::nullopt : std::optional<std::string_view>(arguments[2]);
  const std::optional<absl::StatusOr<std::string>> answer = AnswerPragma(*database_, name, value);
  if (!answer.has_value()) return SQLITE_NOTFOUND;
  const absl::Status& status = answer->status();
  const std::string text = status.ok() ? **answer : std::string(status.message());
  arguments[0] = sqlite3_mprintf("%s", text.c_str());
  return absl::IsInvalidArgument(status) ? SQLITE_ERROR : ResultCodeOf(status);
}

// Tells the name of a temporary file that the other VFS would make.
int DatabaseFile::TellTemporaryName(void* name) {
  const auto memory = std::make_unique<std::byte[]>(static_cast<size_t>(disk_->szOsFile));
  auto* file = reinterpret_cast<sqlite3_file*>(memory.get());
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE |
                         SQLITE_OPEN_DELETEONCLOSE | SQLITE_OPEN_TEMP_DB;
  int code = disk_->xOpen(disk_, nullptr, file, kFlags, nullptr);
  if (code == SQLITE_OK) {
    code = file->pMethods->xFileControl(file, SQLITE_FCNTL_TEMPFILENAME, name);
  }
  if (file->pMethods != nullptr) file->pMethods->xClose(file);
  return code;
}

int DatabaseFile::Control(int op, void* arg) {
  switch (op) {
    case SQLITE_FCNTL_SYNC:
      return NoteWritten(/*is_one_of_many=*/arg != nullptr);  // the name of a super-journal
    case SQLITE_FCNTL_COMMIT_PHASETWO:
      return Commit();
    case SQLITE_FCNTL_PDB:
      connection_ = static_cast<sqlite3* const*>(arg);
      return SQLITE_OK;
    case SQLITE_FCNTL_BEGIN_ATOMIC_WRITE:
    case SQLITE_FCNTL_COMMIT_ATOMIC_WRITE:
      return SQLITE_OK;
    case SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE:
      if (transaction_.has_value()) transaction_->Rollback();
      failed_ = false;  // SQLite tries it again with a journal
      return SQLITE_OK;
    case SQLITE_FCNTL_OVERWRITE:
      vacuums_ = true;
      return SQLITE_OK;
    case SQLITE_FCNTL_CHUNK_SIZE:
    case SQLITE_FCNTL_SIZE_HINT:
      return SQLITE_OK;  // a frame grows as it needs
    case SQLITE_FCNTL_LOCKSTATE:
      *static_cast<int*>(arg) = level_;
      return SQLITE_OK;
    case SQLITE_FCNTL_VFSNAME:
      *static_cast<char**>(arg) = sqlite3_mprintf("%s", "cairn");
      return SQLITE_OK;
    case SQLITE_FCNTL_HAS_MOVED:
      *static_cast<int*>(arg) = database_->LeadsTo(Visible().file()) ? 0 : 1;
      return SQLITE_OK;
    case SQLITE_FCNTL_POWERSAFE_OVERWRITE:
      *static_cast<int*>(arg) = 1;
      return SQLITE_OK;
    case SQLITE_FCNTL_MMAP_SIZE:
      *static_cast<sqlite3_int64*>(arg) = 0;
      return SQLITE_OK;
    case SQLITE_FCNTL_TEMPFILENAME:
      return TellTemporaryName(arg);
    case SQLITE_FCNTL_PRAGMA:
      return Pragma(static_cast<char**>(arg));
    default:
      return SQLITE_NOTFOUND;
  }
}

// No page is torn, whatever its size is. Of many pages, all or none are written.
int DatabaseFile::DeviceCharacteristics() const {
  constexpr int kWhole = SQLITE_IOCAP_POWERSAFE_OVERWRITE | SQLITE_IOCAP_BATCH_ATOMIC |
                         SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL;
  return database_->options().generation.has_value() ? kWhole | SQLITE_IOCAP_IMMUTABLE : kWhole;
}

}  // namespace cairn::sqlite
