// Compressors and decompressors for the parameters of a context.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_CODERS_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_CODERS_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/options.h"
#include "engine/blosc2_api/chunks/chunk_head.h"
#include "engine/blosc2_api/chunks/context.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Returns true for the codecs that take a dictionary.
bool TakesDictionary(uint8_t codec);
// Returns true for the codecs that code blocks of n-dimensional arrays, and need their shape.
bool IsZfpOrNdlz(uint8_t codec);
// Returns true if the codec or one of the filters needs the shape of blocks.
bool NeedsShape(uint8_t codec, std::span<const uint8_t> filters);

// Returns the options that stand for the parameters of a context that compresses.
CompressionOptions OptionsOf(blosc2_context& context);

// Checks parameters as each call that compresses does. Returns 0 or an error code. Without
// `codes`, nothing will be coded, so the codec does not matter. OptionsOf leaves
// out a dictionary that the codec does not take.
int CheckCompression(const blosc2_cparams& cparams, int64_t srcsize, int64_t destsize, bool codes);

// Returns what compresses with the parameters of the context, which owns it.
absl::StatusOr<const ChunkCompressor*> CompressorOf(blosc2_context& context);
// Returns what decompresses a chunk with the codec and the filters of its header. `nchunk` is its
// number, for filters of the program.
std::shared_ptr<const ChunkDecompressor> DecompressorOf(blosc2_context& context,
                                                        const ChunkHead& head, int64_t nchunk);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_CODERS_H_
