// Reads the stored chunks of a state, which lie one after the other in a frame's file, or each in a
// file of its own.
#ifndef CAIRN_ENGINE_FRAME_STATE_CHUNK_SOURCE_H_
#define CAIRN_ENGINE_FRAME_STATE_CHUNK_SOURCE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "engine/base/scratch_buffer.h"
#include "engine/chunk/header.h"
#include "engine/frame/files/frame_file.h"

namespace cairn::frame {

// The place where the index says that a chunk is stored. One of the two is set.
struct ChunkLocation {
  std::optional<int64_t> offset = {};  // from the start of the frame
  std::optional<int64_t> file = {};    // number of its file
};

// The bytes of a chunk, and the header that they begin with.
struct StoredChunk {
  chunk::Header header;
  Chunk chunk;

  Bytes bytes() const { return chunk.bytes(); }
};

enum class ReadMode {
  // kMapped reads in place if there is a mapping. The result has no owner and lasts as long as
  // source and scratch.
  kMapped,
  kPinned,  // in place with an owner, for as long as the caller likes
  kCopied,  // by a system call, whatever the mapping shows; with an owner
};

// A chunk that will be read, and its size in bytes, or a little more.
struct ChunkHint {
  int64_t entry = 0;
  int64_t size = 0;
};

// Entries are those of the index that are not special values. Immutable, thread-safe.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // Finds a chunk without touching it. Errors: kDataLoss if no chunk can lie there.
  virtual absl::StatusOr<ChunkLocation> Locate(int64_t entry) const = 0;
  // Describes a place as "at byte 97" or "in 0000001A.chunk".
  virtual std::string Describe(int64_t entry) const = 0;
  // Returns where the chunks end in the frame's file, or 0 if they have files of their own.
  virtual int64_t end() const { return 0; }

  // Reads the chunk's header, from which its size follows. Errors: kDataLoss if it is damaged.
  virtual absl::StatusOr<chunk::Header> ReadHeader(int64_t entry, ScratchBuffer& scratch) const = 0;
  // Reads the chunk. If `header` is given, the header is not read again.
  virtual absl::StatusOr<StoredChunk> Read(int64_t entry, ReadMode mode, ScratchBuffer& scratch,
                                           const chunk::Header* header = nullptr) const = 0;

  // Reads the chunk, with an owner. Blocks that hold none of the `needed` bytes may be left out, as
  // PickedBlocks does, if that saves reading.
  virtual absl::StatusOr<StoredChunk> ReadBlocks(int64_t entry, std::span<const ByteRange> needed,
                                                 ScratchBuffer& scratch) const = 0;

  // Returns how many bytes of chunks are worth announcing before they are read. 0 means that
  // reading is quick.
  int64_t read_ahead() const { return read_ahead_; }
  // Hints that these chunks will be read soon, all of each.
  virtual void WillRead(std::span<const ChunkHint> chunks) const = 0;

 protected:
  explicit ChunkSource(int64_t read_ahead) : read_ahead_(read_ahead) {}

 private:
  int64_t read_ahead_;
};

// Reads bytes [begin, end) of a frame. Entries count from begin.
class ContiguousChunkSource final : public ChunkSource {
 public:
  ContiguousChunkSource(FrameView region, int64_t begin, int64_t end)
      : ChunkSource(region.read_ahead()), region_(std::move(region)), begin_(begin), end_(end) {}

  absl::StatusOr<ChunkLocation> Locate(int64_t entry) const override;
  std::string Describe(int64_t entry) const override;
  int64_t end() const override { return end_; }
  absl::StatusOr<chunk::Header> ReadHeader(int64_t entry, ScratchBuffer& scratch) const override;
  absl::StatusOr<StoredChunk> Read(int64_t entry, ReadMode mode, ScratchBuffer& scratch,
                                   const chunk::Header* header) const override;
  absl::StatusOr<StoredChunk> ReadBlocks(int64_t entry, std::span<const ByteRange> needed,
                                         ScratchBuffer& scratch) const override;
  void WillRead(std::span<const ChunkHint> chunks) const override;

 private:
  FrameView region_;
  int64_t begin_;
  int64_t end_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_CHUNK_SOURCE_H_
