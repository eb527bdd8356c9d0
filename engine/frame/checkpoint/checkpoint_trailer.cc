#include "engine/frame/checkpoint/checkpoint_trailer.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

namespace {

// Encodes the header over its old bytes, so that the bytes that no writer changes stay.
std::vector<std::byte> EncodeHeader(const StagedState& staged, const format::FrameHeader& header) {
  std::vector<std::byte> bytes = *staged.header_bytes;
  CopyBytes(format::EncodeFixedHeader(header), bytes);
  for (size_t i = 0; i < header.places.size(); ++i) {
    CopyBytes(staged.metadata->metalayers[i].content,
              MutableBytes(bytes).subspan(static_cast<size_t>(header.places[i].begin)));
  }
  return bytes;
}

// Completes the seal except for what it says of the header's bytes. The header of a frame of one
// short chunk gets that chunk's size, and the seal gets the size that chunks are cut to.
format::Seal Complete(format::Seal seal, const StagedState& staged, format::FrameHeader& header) {
  if (staged.chunks.size() == 1 && header.nbytes < header.chunksize) {
    seal.chunksize = header.chunksize;
    header.chunksize = static_cast<int32_t>(header.nbytes);
  }
  seal.dead_bytes = -1;
  if (staged.stored_bytes.has_value() && *staged.stored_bytes <= header.cbytes) {
    seal.dead_bytes = header.cbytes - *staged.stored_bytes;
  }
  return seal;
}

}  // namespace

absl::Status SetIndexBegin(int64_t begin, int64_t nchunks, format::FrameHeader& header) {
  header.cbytes = begin - header.header_len;
  if (!header.variable_chunks() || nchunks <= MaxVariableChunks(header.cbytes)) {
    return absl::OkStatus();
  }
  return ResourceExhausted("index: %d chunks of any size in an area of %d bytes", nchunks,
                           header.cbytes);
}

absl::StatusOr<CheckpointTrailer> EncodeCheckpointTrailer(const StagedState& staged,
                                                          format::FrameHeader header, int64_t begin,
                                                          const format::Seal* seal,
                                                          const format::NamedBytes* table) {
  std::vector<format::NamedBytes> layers;
  for (const VlMetalayer& layer : staged.metadata->vlmetalayers) {
    layers.push_back({.name = layer.name, .content = layer.chunk.bytes()});
  }
  if (table != nullptr) layers.push_back(*table);
  // The seal contains the header, the header contains the frame's size, and that depends on the
  // size of the seal. A seal of the same size takes its place until the header is known.
  format::Seal complete;
  std::vector<std::byte> seal_chunk;
  if (seal != nullptr) {
    complete = Complete(*seal, staged, header);
    complete.header_copy = *staged.header_bytes;
    seal_chunk = chunk::MemcpyedChunk(format::EncodeSeal(complete));
    layers.push_back({.name = format::kSealLayer, .content = seal_chunk});
  }
  if (layers.size() > kMaxVlMetalayers) {
    return ResourceExhausted("trailer: %d vlmetalayers, at most %d", layers.size(),
                             kMaxVlMetalayers);
  }
  const int64_t size = format::TrailerSize(layers);
  if (size > INT32_MAX) {
    return ResourceExhausted("trailer: %d bytes, at most %d", size, INT32_MAX);
  }
  header.frame_size = begin + size;
  header.has_vlmetalayers = !layers.empty();
  CheckpointTrailer out;
  out.header = EncodeHeader(staged, header);
  if (seal != nullptr) {
    complete.header_copy = out.header;
    complete.header_hash = Xxh3(out.header);
    CopyBytes(chunk::MemcpyedChunk(format::EncodeSeal(complete)), seal_chunk);
  }
  out.bytes = format::EncodeTrailer(layers, seal != nullptr ? seal->type : FingerprintType::kNone);
  // Only the seal follows the table.
  if (seal != nullptr) {
    out.table_end = std::ssize(out.bytes) - format::kTrailerTailSize - format::kValueOverhead -
                    std::ssize(seal_chunk);
  }
  return out;
}

}  // namespace cairn::frame
