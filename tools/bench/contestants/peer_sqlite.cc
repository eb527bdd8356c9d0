// SQLite: one table, compressed chunks as blobs, a write-ahead log.
#include <sqlite3.h>

#include "tools/bench/contestants/peers.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

class SqliteStore final : public ChunkStore {
 public:
  explicit SqliteStore(const StoreParams& params) : coder_(params.compression, params.chunksize) {}
  ~SqliteStore() override {
    for (sqlite3_stmt* statement : {put_, get_}) sqlite3_finalize(statement);
    sqlite3_close(db_);
  }

  absl::Status Open(const std::string& path) {
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK) return Failed();
    absl::Status status = Execute("PRAGMA journal_mode=WAL");
    if (status.ok()) status = Execute("PRAGMA synchronous=NORMAL");
    if (status.ok()) status = Execute("CREATE TABLE chunks(n INTEGER PRIMARY KEY, bytes BLOB)");
    if (!status.ok()) return status;
    if (sqlite3_prepare_v2(db_, "INSERT OR REPLACE INTO chunks VALUES(?, ?)", -1, &put_, nullptr) !=
            SQLITE_OK ||
        sqlite3_prepare_v2(db_, "SELECT bytes FROM chunks WHERE n = ?", -1, &get_, nullptr) !=
            SQLITE_OK) {
      return Failed();
    }
    return absl::OkStatus();
  }

  absl::Status Append(Bytes raw) override { return Update(next_++, raw); }
  absl::Status Update(int64_t nchunk, Bytes raw) override {
    ASSIGN_OR_RETURN(const Bytes blob, coder_.Compress(raw));
    if (!in_transaction_) {
      RETURN_IF_ERROR(Execute("BEGIN"));
      in_transaction_ = true;
    }
    sqlite3_bind_int64(put_, 1, nchunk);
    sqlite3_bind_blob(put_, 2, blob.data(), static_cast<int>(blob.size()), SQLITE_STATIC);
    const bool done = sqlite3_step(put_) == SQLITE_DONE;
    sqlite3_reset(put_);
    return done ? absl::OkStatus() : Failed();
  }

  absl::Status Commit(Durability durability) override {
    if (!in_transaction_) return absl::OkStatus();
    in_transaction_ = false;
    // NORMAL does not sync a commit, FULL does.
    if (durability != durability_) {
      durability_ = durability;
      const bool full = durability == Durability::kMachine;
      RETURN_IF_ERROR(Execute("COMMIT"));
      return Execute(full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
    }
    return Execute("COMMIT");
  }

  absl::Status Read(int64_t nchunk, MutableBytes raw) override {
    sqlite3_bind_int64(get_, 1, nchunk);
    absl::Status status = absl::NotFoundError("SQLite: no such chunk");
    if (sqlite3_step(get_) == SQLITE_ROW) {
      const auto* blob = static_cast<const std::byte*>(sqlite3_column_blob(get_, 0));
      status = coder_.Decompress({blob, static_cast<size_t>(sqlite3_column_bytes(get_, 0))}, raw);
    }
    sqlite3_reset(get_);
    return status;
  }

 private:
  absl::Status Execute(const char* sql) {
    return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK ? absl::OkStatus()
                                                                          : Failed();
  }
  absl::Status Failed() const {
    return absl::InternalError(std::string("SQLite: ") + sqlite3_errmsg(db_));
  }

  BlobCoder coder_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* put_ = nullptr;
  sqlite3_stmt* get_ = nullptr;
  bool in_transaction_ = false;
  Durability durability_ = Durability::kProcess;
  int64_t next_ = 0;
};

absl::StatusOr<std::unique_ptr<ChunkStore>> MakeSqliteStore(const StoreParams& params) {
  auto store = std::make_unique<SqliteStore>(params);
  RETURN_IF_ERROR(store->Open(params.path));
  return store;
}

}  // namespace

Engine SqliteEngine() { return {.name = "SQLite", .make = MakeSqliteStore}; }

}  // namespace cairn::bench
