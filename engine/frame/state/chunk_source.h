// Reads the stored chunks of a state: one after the other in a frame's file, or each in a file of
// its own.
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

// Where the index says that a chunk is stored: one of the two.
struct ChunkLocation {
  std::optional<int64_t> offset = {};  // from the start of the frame
  std::optional<int64_t> file = {};    // number of its file
};

// The bytes of a chunk and what they begin with.
struct StoredChunk {
  chunk::Header header;
  Chunk chunk;

  Bytes bytes() const { return chunk.bytes(); }
};

enum class ReadMode {
  kMapped,  // in place where there is a map; without an owner, lasts as long as source and scratch
  kPinned,  // the same with an owner, for as long as the caller likes
  kCopied,  // by a system call, whatever the map shows
};

// A chunk that will be read, and how many bytes it has, or a few more.
struct ChunkHint {
  int64_t entry = 0;
  int64_t size = 0;
};

// Entries are those of the index that are no special values. Immutable, thread-safe.
class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // Does not touch the chunk. kDataLoss when none can lie there.
  virtual absl::StatusOr<ChunkLocation> Locate(int64_t entry) const = 0;
  // "at byte 97", "in 0000001A.chunk".
  virtual std::string Describe(int64_t entry) const = 0;
  // Where the chunks end in the frame's file; 0 where they have files of their own.
  virtual int64_t end() const { return 0; }

  // The chunk's header, from which its size follows. kDataLoss.
  virtual absl::StatusOr<chunk::Header> ReadHeader(int64_t entry, ScratchBuffer& scratch) const = 0;
  // The chunk; its header is not read again where it is given.
  virtual absl::StatusOr<StoredChunk> Read(int64_t entry, ReadMode mode, ScratchBuffer& scratch,
                                           const chunk::Header* header = nullptr) const = 0;

  // How many bytes of chunks it is worth to announce before they are read; 0: reading is quick.
  int64_t read_ahead() const { return read_ahead_; }
  // A hint that these chunks will be read soon, all of each.
  virtual void WillRead(std::span<const ChunkHint> chunks) const = 0;

 protected:
  explicit ChunkSource(int64_t read_ahead) : read_ahead_(read_ahead) {}

 private:
  int64_t read_ahead_;
};

// Bytes [begin, end) of a frame; entries count from begin.
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
  void WillRead(std::span<const ChunkHint> chunks) const override;

 private:
  FrameView region_;
  int64_t begin_;
  int64_t end_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_CHUNK_SOURCE_H_
