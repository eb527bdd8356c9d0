// Decodes the chunks of one state.
#ifndef CAIRN_ENGINE_FRAME_READ_CHUNK_READER_H_
#define CAIRN_ENGINE_FRAME_READ_CHUNK_READER_H_

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/types.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/item_fields.h"
#include "engine/chunk/special.h"
#include "engine/frame/read/stored_chunk.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Errors: kResourceExhausted for a chunk of more than Limits::max_chunk_nbytes.
absl::Status CheckChunkNbytes(const State& state, int64_t nbytes);
// Returns true if a stored chunk decodes to something else outside of this frame.
bool DependsOnFrame(const State& state, const chunk::Header& header);

// A chunk of a state, ready to be decoded: stored, special or partial. The state and the scratch
// buffer that it was opened with must outlive it.
class ChunkReader {
 public:
  // Opens a chunk. Errors: kDataLoss for a stored chunk that is not what it should be.
  static absl::StatusOr<ChunkReader> Open(const State& state, int64_t nchunk, VerifyPolicy policy,
                                          ScratchBuffer& scratch);

  // Opens a chunk that was found, without the pending items that may follow it.
  static absl::StatusOr<ChunkReader> Open(const State& state, const ChunkRef& ref,
                                          VerifyPolicy policy, ScratchBuffer& scratch);

  int32_t nbytes() const { return std::max(filled(), padded_to_); }
  // Decodes bytes [begin, begin + dst.size()). This thread works in `workspace`, which may be the
  // one whose buffer the chunk was opened with.
  absl::Status Read(int64_t begin, MutableBytes dst, chunk::Workspace& workspace) const;
  absl::Status Read(int64_t begin, MutableBytes dst) const;
  // Reads fields of items that lie in the chunk.
  absl::Status ReadFields(chunk::ItemRange items, const chunk::ItemFields& fields,
                          chunk::Workspace& workspace) const;
  // Returns the stored bytes. For a partial chunk these are the ones that it begins with. There are
  // none for special chunks of the index.
  Bytes stored() const { return stored_.bytes(); }
  // Returns null for special chunks of the index and for the partial chunk.
  const chunk::Decoder* decoder() const {
    return nbytes() == nbytes_ ? std::get_if<chunk::Decoder>(&content_) : nullptr;
  }
  // Returns the decoder of the stored chunk that holds a byte, or null if none does.
  const chunk::Decoder* DecoderAt(int64_t position) const {
    return position < nbytes_ ? std::get_if<chunk::Decoder>(&content_) : nullptr;
  }

 private:
  int32_t filled() const { return nbytes_ + static_cast<int32_t>(pending_.size()); }
  explicit ChunkReader(chunk::WorkspacePool* pool) : pool_(pool) {}
  void SetPartial(const PartialChunk& partial);
  absl::Status OpenSpecial(const State& state, int64_t entry, int32_t nbytes);
  // Fills a reader in place, because it is large and chunks are many.
  absl::Status OpenStored(const State& state, const ChunkRef& ref, VerifyPolicy policy,
                          ScratchBuffer& scratch);

  std::variant<std::monostate, chunk::Decoder, chunk::SpecialContent> content_;
  int32_t nbytes_ = 0;  // of the content
  chunk::WorkspacePool* pool_;
  Bytes pending_;          // items after the content
  int32_t padded_to_ = 0;  // zeros follow, up to this many bytes
  Chunk stored_;
  Bytes reference_;  // for additive DELTA
};

// Returns the decoded size of a chunk, from the frame's chunksize or from the chunk's own header.
absl::StatusOr<int32_t> ChunkNbytes(const State& state, int64_t nchunk);

// Reads all items of a chunk. Pending items read as the last chunk.
absl::StatusOr<std::vector<std::byte>> ReadWholeChunk(const State& state, int64_t nchunk,
                                                      VerifyPolicy policy);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_CHUNK_READER_H_
