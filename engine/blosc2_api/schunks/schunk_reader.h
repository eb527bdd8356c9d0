// Super-chunks as calls read them.
#ifndef CAIRN_ENGINE_BLOSC2_API_SCHUNKS_SCHUNK_READER_H_
#define CAIRN_ENGINE_BLOSC2_API_SCHUNKS_SCHUNK_READER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/snapshot.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Makes the super-chunk what its file is, if others have changed that. Gives the state of the file
// to `pinned`, unless that is null. Returns 1 if there was a change, 0, or an error code.
int SyncWithFile(blosc2_schunk& schunk, const FieldsLock& lock,
                 std::optional<PinnedState>* pinned = nullptr);
int SyncWithFile(blosc2_schunk& schunk);

// Returns a chunk of the super-chunk, whose number must be below nchunks.
absl::StatusOr<Chunk> GetChunk(const blosc2_schunk& schunk, int64_t nchunk);

// Sets the field that tells filters of the program which chunk a call works on.
void SetCurrentChunk(blosc2_schunk& schunk, int64_t nchunk);

// Blocks of a chunk that a call does not need.
struct BlockMask {
  int32_t blocksize = 0;  // in bytes; chunks of other blocks are read completely
  std::vector<bool> masked{};
};

// The state of a super-chunk that one call reads. What other threads and processes commit
// meanwhile does not change it, unless the super-chunk is in memory.
class SchunkReader {
 public:
  // Begins with the newest state of the file.
  SchunkReader(blosc2_schunk& schunk, const FieldsLock& lock);
  explicit SchunkReader(blosc2_schunk& schunk) : SchunkReader(schunk, FieldsLock(schunk)) {}

  // Returns a negative error code if the file cannot be read. Then there are no chunks.
  int code() const { return code_; }
  int64_t nchunks() const { return nchunks_; }
  int64_t nbytes() const { return nbytes_; }
  int32_t chunksize() const { return chunksize_; }

  // Returns a chunk. Errors: kInvalidArgument if there is none of this number.
  absl::StatusOr<Chunk> Get(int64_t nchunk) const;
  // Returns a chunk with the blocks that hold `needed` bytes. Others may be zeros.
  absl::StatusOr<Chunk> Get(int64_t nchunk, std::span<const ByteRange> needed) const;

  // Decompresses a chunk into dest through the context of the super-chunk, with or without the
  // blocks that `mask` names. Returns the size of the chunk or an error code.
  int Decompress(int64_t nchunk, void* dest, int32_t destsize, BlockMask mask = {}) const;
  // Copies bytes of complete items, from `start` on, out of a chunk that Get returned. Returns
  // their number or an error code.
  int GetBytes(const Chunk& chunk, int64_t nchunk, int64_t start, MutableBytes dst) const;

 private:
  blosc2_schunk* schunk_;
  std::optional<PinnedState> pinned_;  // of a file
  int code_;
  int64_t nchunks_ = 0;
  int64_t nbytes_ = 0;
  int32_t chunksize_ = 0;
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_SCHUNKS_SCHUNK_READER_H_
