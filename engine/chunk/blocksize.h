// How a payload is cut into blocks and streams.
#ifndef CAIRN_ENGINE_CHUNK_BLOCKSIZE_H_
#define CAIRN_ENGINE_CHUNK_BLOCKSIZE_H_

#include <cstdint>

#include "cairn/options.h"

namespace cairn::chunk {

// Whether blocks of `blocksize` bytes are cut into one stream a byte position. `typesize` is that
// of the chunk header.
bool SplitsBlocks(const CompressionOptions& options, int32_t typesize, int32_t blocksize);

// The block size for nbytes of payload (> 0): as asked for, or chosen as C-Blosc2 chooses it, so
// that ratios are the same.
int32_t ChooseBlockSize(const CompressionOptions& options, int32_t nbytes);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_BLOCKSIZE_H_
