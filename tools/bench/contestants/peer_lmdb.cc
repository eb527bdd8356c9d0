// LMDB: integer keys, compressed chunks as values.
#include <lmdb.h>
#include <utility>

#include "tools/bench/contestants/peers.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr size_t kMapSize = size_t{64} << 30;

absl::Status Check(int code, const char* what) {
  if (code == 0) return absl::OkStatus();
  return absl::InternalError(std::string("LMDB: cannot ") + what + ": " + mdb_strerror(code));
}

class LmdbStore final : public ChunkStore {
 public:
  explicit LmdbStore(const StoreParams& params) : coder_(params.compression, params.chunksize) {}
  ~LmdbStore() override {
    if (reading_ != nullptr) mdb_txn_abort(reading_);
    if (writing_ != nullptr) mdb_txn_abort(writing_);
    mdb_env_close(env_);
  }

  absl::Status Open(const std::string& path) {
    absl::Status status = Check(mdb_env_create(&env_), "make an environment");
    if (status.ok()) status = Check(mdb_env_set_mapsize(env_, kMapSize), "set the map's size");
    // Durable commits sync by themselves; see Commit.
    if (status.ok()) {
      status = Check(mdb_env_open(env_, path.c_str(), MDB_NOSUBDIR | MDB_NOSYNC | MDB_NOTLS, 0644),
                     "open");
    }
    return status;
  }

  absl::Status Append(Bytes raw) override { return Put(next_++, raw, MDB_APPEND); }
  absl::Status Update(int64_t nchunk, Bytes raw) override {
    return Put(static_cast<size_t>(nchunk), raw, 0);
  }

  absl::Status Commit(Durability durability) override {
    if (writing_ == nullptr) return absl::OkStatus();
    absl::Status status = Check(mdb_txn_commit(std::exchange(writing_, nullptr)), "commit");
    if (status.ok() && durability == Durability::kMachine) {
      status = Check(mdb_env_sync(env_, 1), "sync");
    }
    if (reading_ != nullptr) mdb_txn_abort(std::exchange(reading_, nullptr));
    return status;
  }

  absl::Status Read(int64_t nchunk, MutableBytes raw) override {
    if (reading_ == nullptr) {
      RETURN_IF_ERROR(Check(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &reading_), "begin to read"));
    }
    size_t number = static_cast<size_t>(nchunk);
    MDB_val key = {.mv_size = sizeof(number), .mv_data = &number};
    MDB_val value = {};
    RETURN_IF_ERROR(Check(mdb_get(reading_, db_, &key, &value), "get"));
    return coder_.Decompress({static_cast<const std::byte*>(value.mv_data), value.mv_size}, raw);
  }

 private:
  absl::Status Put(size_t number, Bytes raw, unsigned flags) {
    ASSIGN_OR_RETURN(Bytes blob, coder_.Compress(raw));
    absl::Status status;
    if (writing_ == nullptr) {
      status = Check(mdb_txn_begin(env_, nullptr, 0, &writing_), "begin to write");
      if (status.ok()) {
        status = Check(mdb_dbi_open(writing_, nullptr, MDB_INTEGERKEY | MDB_CREATE, &db_),
                       "open the database");
      }
    }
    if (!status.ok()) return status;
    MDB_val key = {.mv_size = sizeof(number), .mv_data = &number};
    // LMDB does not change the value. NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
    MDB_val value = {.mv_size = blob.size(), .mv_data = const_cast<std::byte*>(blob.data())};
    return Check(mdb_put(writing_, db_, &key, &value, flags), "put");
  }

  BlobCoder coder_;
  MDB_env* env_ = nullptr;
  MDB_dbi db_ = 0;
  MDB_txn* writing_ = nullptr;
  MDB_txn* reading_ = nullptr;
  size_t next_ = 0;
};

absl::StatusOr<std::unique_ptr<ChunkStore>> MakeLmdbStore(const StoreParams& params) {
  auto store = std::make_unique<LmdbStore>(params);
  RETURN_IF_ERROR(store->Open(params.path));
  return store;
}

}  // namespace

Engine LmdbEngine() { return {.name = "LMDB", .make = MakeLmdbStore}; }

}  // namespace cairn::bench
