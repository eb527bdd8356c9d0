// Super-chunks: what the parts of the interface share that know of them.
#ifndef CAIRN_ENGINE_BLOSC2_API_SCHUNK_H_
#define CAIRN_ENGINE_BLOSC2_API_SCHUNK_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/snapshot.h"
#include "engine/blosc2_api/api.h"

namespace cairn::blosc2_api {

struct FreeSchunk {
  void operator()(blosc2_schunk* schunk) const { blosc2_schunk_free(schunk); }
};
using SchunkPtr = std::unique_ptr<blosc2_schunk, FreeSchunk>;

// Makes a super-chunk with copies of the storage's parameters, and contexts for them, without a
// store. Returns null if the parameters are wrong.
SchunkPtr MakeSchunk(const blosc2_storage& storage);
// Makes one with the parameters, the counters and the metalayers of a frame. `io` may be null.
SchunkPtr MakeSchunk(const Snapshot& snapshot, const char* urlpath, const blosc2_io* io);

// Returns a chunk of the super-chunk, whose number must be below nchunks.
absl::StatusOr<Chunk> GetChunk(const blosc2_schunk& schunk, int64_t nchunk);

// Adds a metalayer to the arrays of the super-chunk, without its store. Returns its number or an
// error code.
int AddMetalayer(blosc2_schunk& schunk, const char* name, Bytes content);
int AddVlmetalayer(blosc2_schunk& schunk, const char* name, Bytes content);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_SCHUNK_H_
