// C-Blosc2, spoken to in Cairn's words. Every call answers what the library answered: an empty
// optional is an error of its.
#ifndef CAIRN_TESTS_INTEROP_PEER_H_
#define CAIRN_TESTS_INTEROP_PEER_H_

#include <blosc2.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cairn/options.h"
#include "tests/interop/data.h"

namespace cairn::interop {

// As the library counts bytes.
inline int32_t Length(Bytes bytes) { return static_cast<int32_t>(bytes.size()); }

// Filters go to the last slots, as C-Blosc2's own defaults do.
blosc2_cparams PeerParams(const CompressionOptions& options);

using PeerContext = std::unique_ptr<blosc2_context, void (*)(blosc2_context*)>;
PeerContext PeerEncoder(const CompressionOptions& options);
PeerContext PeerDecoder();

std::optional<Buffer> PeerCompress(Bytes src, const CompressionOptions& options);
std::optional<Buffer> PeerDecompress(Bytes chunk, size_t nbytes);
// Items of the chunk's own typesize.
std::optional<Buffer> PeerGetItems(Bytes chunk, int start, int nitems, int32_t typesize);

std::optional<Buffer> PeerCompressVlBlocks(std::span<const Buffer> blocks,
                                           const CompressionOptions& options);
std::optional<std::vector<Buffer>> PeerDecompressVlBlocks(Bytes chunk);

std::optional<Buffer> PeerSpecialChunk(SpecialValue special, int32_t nbytes, Bytes value,
                                       const CompressionOptions& options);

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_PEER_H_
