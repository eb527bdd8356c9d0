// Engines that keep numbered chunks, under one interface.
#ifndef CAIRN_TOOLS_BENCH_CONTESTANTS_STORES_H_
#define CAIRN_TOOLS_BENCH_CONTESTANTS_STORES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn::bench {

// A store, open for writing. Chunks are given and read raw. Each engine keeps them compressed.
class ChunkStore {
 public:
  virtual ~ChunkStore() = default;
  virtual absl::Status Append(Bytes raw) = 0;
  // Replaces chunk nchunk by `raw`.
  virtual absl::Status Update(int64_t nchunk, Bytes raw);
  // Makes visible what was appended and updated since the last call. An engine without such a step
  // has done it all along.
  virtual absl::Status Commit(Durability durability) = 0;
  virtual absl::Status Read(int64_t nchunk, MutableBytes raw) = 0;
};

struct StoreParams {
  std::string path;  // nothing exists there yet
  int32_t chunksize = 4096;
  CompressionOptions compression = {};
};

struct Engine {
  std::string name;
  std::function<absl::StatusOr<std::unique_ptr<ChunkStore>>(const StoreParams&)> make;
};

Engine CairnEngine();

// Removes a store, whatever it consists of.
void RemoveStore(const std::string& path);

// Codes chunks as blobs for engines that store any bytes. It uses C-Blosc2 if that was found, as
// their users would, and Cairn otherwise.
class BlobCoder {
 public:
  explicit BlobCoder(const CompressionOptions& options, int32_t chunksize);
  ~BlobCoder();
  BlobCoder(const BlobCoder&) = delete;
  BlobCoder& operator=(const BlobCoder&) = delete;
  // The result is valid until the next call.
  absl::StatusOr<Bytes> Compress(Bytes raw);
  absl::Status Decompress(Bytes blob, MutableBytes raw);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_CONTESTANTS_STORES_H_
