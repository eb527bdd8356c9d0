// Finds and decodes the chunks of one state.
#ifndef CAIRN_ENGINE_FRAME_READ_CHUNK_READER_H_
#define CAIRN_ENGINE_FRAME_READ_CHUNK_READER_H_

#include <cstdint>
#include <utility>
#include <variant>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/types.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/special.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// An error about a chunk, with its number.
absl::Status AtChunk(int64_t nchunk, const absl::Status& status);

// kResourceExhausted for a chunk of more than Limits::max_chunk_nbytes.
absl::Status CheckChunkNbytes(const State& state, int64_t nbytes);
// What the index says of a chunk, or of the one that the tail begins with. Not for a tail without.
absl::StatusOr<IndexEntry> EntryOf(const State& state, int64_t nchunk);

// The bytes of a stored chunk, or of the one that the tail begins with, as ChunkSource::Read gives
// them. Not for a tail without. The fingerprint is checked as `policy` asks; nothing is decoded, so
// any codec will do.
absl::StatusOr<StoredChunk> ReadStored(const State& state, int64_t nchunk, VerifyPolicy policy,
                                       chunk::ScratchBuffer& scratch);

// What reading every chunk of a state may cost. Chunks do not overlap, so together they are no
// longer than what they lie in; only an index that was made to waste time asks for much more.
class ReadBudget {
 public:
  // The state must outlive it.
  explicit ReadBudget(const State& state);
  // To be told of each chunk that was read, with its stored size. kDataLoss when all of them were
  // much more than what they lie in.
  absl::Status Spend(int64_t nchunk, int64_t stored);

 private:
  const State& state_;
  int64_t room_;  // of a sparse frame: of the files so far
  int64_t spent_ = 0;
  absl::flat_hash_set<int64_t> files_;
};

// Whether a stored chunk decodes to something else outside of this frame.
bool DependsOnFrame(const State& state, const chunk::Header& header);

// A chunk of a state, ready to be decoded: stored, special, or the tail. Lasts no longer than the
// state and the scratch buffer that it was opened with.
class ChunkReader {
 public:
  // kDataLoss for a stored chunk that is not what it should be.
  static absl::StatusOr<ChunkReader> Open(const State& state, int64_t nchunk, VerifyPolicy policy,
                                          chunk::ScratchBuffer& scratch);

  // The same of a stored chunk, not of the tail, that was found and whose header was read.
  static absl::StatusOr<ChunkReader> Open(const State& state, int64_t nchunk,
                                          const FoundEntry& found, const chunk::Header& header,
                                          VerifyPolicy policy, chunk::ScratchBuffer& scratch) {
    return OpenStored(state, nchunk, found, &header, policy, scratch);
  }

  int32_t nbytes() const { return nbytes_ + static_cast<int32_t>(more_.size()); }
  // Decodes bytes [begin, begin + dst.size()); this thread works in `workspace`, which may be the
  // one whose buffer the chunk was opened with.
  absl::Status Read(int64_t begin, MutableBytes dst, chunk::Workspace& workspace) const;
  absl::Status Read(int64_t begin, MutableBytes dst) const;
  // The chunk's stored bytes, empty for special chunks of the index; those that a tail begins with.
  Bytes stored() const { return stored_.bytes(); }
  // Null for special chunks of the index and the tail.
  const chunk::Decoder* decoder() const {
    return more_.empty() ? std::get_if<chunk::Decoder>(&content_) : nullptr;
  }
  // The decoder of the stored chunk that holds a byte; null where none does.
  const chunk::Decoder* DecoderAt(int64_t position) const {
    return position < nbytes_ ? std::get_if<chunk::Decoder>(&content_) : nullptr;
  }

 private:
  explicit ChunkReader(chunk::WorkspacePool* pool) : pool_(pool) {}
  // `header` may be null.
  static absl::StatusOr<ChunkReader> OpenStored(const State& state, int64_t nchunk,
                                                const FoundEntry& found,
                                                const chunk::Header* header, VerifyPolicy policy,
                                                chunk::ScratchBuffer& scratch);
  absl::Status ReadContent(int64_t begin, MutableBytes dst, chunk::Workspace& workspace) const;

  std::variant<std::monostate, chunk::Decoder, chunk::SpecialContent> content_;
  int32_t nbytes_ = 0;  // of the content
  chunk::WorkspacePool* pool_;
  Bytes more_;  // raw items behind it
  Chunk stored_;
  Bytes reference_;  // of additive DELTA
};

// Decoded size of a chunk: by the frame's chunksize, or from the chunk's own header.
absl::StatusOr<int32_t> ChunkNbytes(const State& state, int64_t nchunk);

// Reads bytes [begin, begin + dst.size()) of the decoded data.
absl::Status ReadRange(const State& state, int64_t begin, MutableBytes dst);

// The chunk that holds a byte of the decoded data, and where it begins there.
absl::StatusOr<DecodedOffsets::Place> FindByte(const State& state, int64_t position);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_CHUNK_READER_H_
