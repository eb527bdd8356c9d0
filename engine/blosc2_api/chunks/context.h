// The contexts that programs create to compress or decompress chunks.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_CONTEXT_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cairn/chunk.h"
#include "engine/base/mutex.h"
#include "engine/blosc2_api/chunks/thread_slots.h"
#include "engine/blosc2_api/process/api.h"

// The parameters are fixed when the context is made. Several threads may decompress with one
// context at a time, except with a mask.
struct blosc2_context_s {
  blosc2_context_s() = default;
  blosc2_context_s(const blosc2_context_s&) = delete;
  blosc2_context_s& operator=(const blosc2_context_s&) = delete;

  bool compresses = false;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;  // after the environment's BLOSC_ variables
  blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
  blosc2_prefilter_params preparams{};    // which cparams points to, if there is a prefilter
  blosc2_postfilter_params postparams{};  // which dparams points to, if there is a postfilter
  std::vector<bool> masked_blocks;        // blocks that the next call leaves out
  cairn::blosc2_api::ThreadSlots slots;   // of the threads that run filters

  // Returns the super-chunk that the context belongs to, or null.
  blosc2_schunk* schunk() const {
    return static_cast<blosc2_schunk*>(compresses ? cparams.schunk : dparams.schunk);
  }

  // See coders.h.
  cairn::Mutex mutex;
  std::optional<cairn::ChunkCompressor> compressor ABSL_GUARDED_BY(mutex);
  // The decompressor of chunks without filters or codecs of the program's own.
  std::shared_ptr<const cairn::ChunkDecompressor> decompressor ABSL_GUARDED_BY(mutex);
};

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_CONTEXT_H_
