// RocksDB: big-endian keys, compressed chunks as values, a write-ahead log.
#include <memory>
#include <string>
#include <utility>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "tools/bench/contestants/peers.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr size_t kBlockCache = size_t{1} << 30;

absl::Status Converted(const rocksdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return absl::InternalError("RocksDB: " + status.ToString());
}

std::string KeyOf(int64_t nchunk) {
  std::string key(8, '\0');
  for (size_t i = 0; i < 8; ++i) key[i] = static_cast<char>(nchunk >> (56 - 8 * i));
  return key;
}

class RocksDbStore final : public ChunkStore {
 public:
  RocksDbStore(std::unique_ptr<rocksdb::DB> db, const StoreParams& params)
      : db_(std::move(db)), coder_(params.compression, params.chunksize) {}

  absl::Status Append(Bytes raw) override { return Update(next_++, raw); }
  absl::Status Update(int64_t nchunk, Bytes raw) override {
    ASSIGN_OR_RETURN(const Bytes blob, coder_.Compress(raw));
    return Converted(batch_.Put(
        KeyOf(nchunk), rocksdb::Slice(reinterpret_cast<const char*>(blob.data()), blob.size())));
  }
  absl::Status Commit(Durability durability) override {
    rocksdb::WriteOptions options;
    options.sync = durability == Durability::kMachine;
    absl::Status status = Converted(db_->Write(options, &batch_));
    batch_.Clear();
    return status;
  }
  absl::Status Read(int64_t nchunk, MutableBytes raw) override {
    value_.Reset();
    RETURN_IF_ERROR(Converted(
        db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), KeyOf(nchunk), &value_)));
    return coder_.Decompress({reinterpret_cast<const std::byte*>(value_.data()), value_.size()},
                             raw);
  }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  BlobCoder coder_;
  rocksdb::WriteBatch batch_;
  rocksdb::PinnableSlice value_;
  int64_t next_ = 0;
};

absl::StatusOr<std::unique_ptr<ChunkStore>> MakeRocksDbStore(const StoreParams& params) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kBlockCache);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::DB* db = nullptr;
  RETURN_IF_ERROR(Converted(rocksdb::DB::Open(options, params.path, &db)));
  return std::make_unique<RocksDbStore>(std::unique_ptr<rocksdb::DB>(db), params);
}

}  // namespace

Engine RocksDbEngine() { return {.name = "RocksDB", .make = MakeRocksDbStore}; }

}  // namespace cairn::bench
