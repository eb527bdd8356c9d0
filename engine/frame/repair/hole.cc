#include "engine/chunk/hole.h"

#include <algorithm>

#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/header.h"

namespace cairn {

absl::StatusOr<std::vector<std::byte>> MakeHole(int32_t nbytes, const CompressionOptions& options,
                                                bool vlblocks) {
  if (nbytes < 1 || nbytes > kMaxChunkBytes || options.typesize < 1) {
    return InvalidArgument("hole: nbytes %d, typesize %d", nbytes, options.typesize);
  }
  chunk::Header header;
  header.typesize = static_cast<uint8_t>(chunk::HeaderTypesize(options.typesize));
  header.unsplit = true;
  header.format_code = chunk::kUserFormatCode;
  header.codec_id = static_cast<uint8_t>(chunk::kHoleCodec);
  header.nbytes = nbytes;
  if (vlblocks) {
    header.version = chunk::kVersionVlBlocks;
    header.vlblocks = true;
    header.blocksize = 1;  // block
  } else {
    const int32_t blocksize = options.blocksize > 0 ? options.blocksize : chunk::kMaxBlockSize;
    header.blocksize = std::min(blocksize, nbytes);
  }
  // The position of each block is stored, which may take more than the data did.
  constexpr int32_t kMostBlocks = 4 << 20;
  if (header.nblocks() > kMostBlocks) {
    return ResourceExhausted("hole: %d blocks, at most %d", header.nblocks(), kMostBlocks);
  }
  // All blocks share one stream.
  const int32_t stream = header.size() + 4 * header.nblocks();
  header.cbytes = stream + chunk::kHoleStreamBytes;
  std::vector<std::byte> bytes(static_cast<size_t>(header.cbytes));
  chunk::StoreHeader(header, bytes);
  for (int32_t i = 0; i < header.nblocks(); ++i) {
    StoreLe(bytes.data() + header.size() + int64_t{4} * i, static_cast<uint32_t>(stream));
  }
  // A variable block begins with its decoded size, a stream with its stored one.
  const int32_t size = vlblocks ? nbytes : static_cast<int32_t>(chunk::kHoleStream.size());
  StoreLe(bytes.data() + stream, size);
  CopyBytes(AsBytes(chunk::kHoleStream), std::span(bytes).last(chunk::kHoleStream.size()));
  return bytes;
}

}  // namespace cairn
