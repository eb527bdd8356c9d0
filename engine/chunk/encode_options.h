// Checks compression options, brings them into the form of a chunk header, and cuts payloads into
// blocks and streams as they ask.
#ifndef CAIRN_ENGINE_CHUNK_ENCODE_OPTIONS_H_
#define CAIRN_ENGINE_CHUNK_ENCODE_OPTIONS_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"

#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn::chunk {

// Checks the options. Errors: kInvalidArgument naming the option that is not allowed;
// kUnimplemented for a filter that Cairn only decodes.
absl::Status CheckOptions(const CompressionOptions& options);

// Returns the filters at the end of the six slots, where every Blosc puts them.
std::array<FilterStage, kMaxFilters> SlotsOf(const CompressionOptions& options);

// Returns the typesize that a chunk header can hold: above 255 it is 1.
uint8_t HeaderTypesize(int32_t typesize);

// Returns true if blocks of `blocksize` bytes are cut into one stream for each byte position.
// `typesize` is that of the chunk header.
bool SplitsBlocks(const CompressionOptions& options, int32_t typesize, int32_t blocksize);

// Returns the block size for nbytes of payload (> 0): the one asked for, or one chosen as C-Blosc2
// chooses it, so that ratios are the same.
int32_t ChooseBlockSize(const CompressionOptions& options, int32_t nbytes);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_ENCODE_OPTIONS_H_
