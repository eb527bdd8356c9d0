// The state of a frame that a writer is making: the committed one and the edits on top.
#ifndef CAIRN_ENGINE_FRAME_DRAFT_H_
#define CAIRN_ENGINE_FRAME_DRAFT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/format/frame_header.h"
#include "engine/frame/chunk_index.h"
#include "engine/frame/state.h"

namespace cairn::frame {

// What chunks take.
struct ChunkCost {
  int64_t nbytes = 0;                 // decoded
  std::optional<int64_t> stored = 0;  // in the files; empty where damage hides it
};

// A chunk that is in the files, but in no index yet.
struct StagedChunk {
  IndexEntry entry;
  ChunkCost cost;
};

// Pure memory: making or dropping one costs no I/O.
struct Draft {
  explicit Draft(const State& base)
      : header(base.header),
        header_bytes(base.header_bytes),
        chunks(base.chunks),
        vlmetalayers(base.vlmetalayers),
        stored_bytes(base.info.dead_bytes >= 0 ? std::optional(base.info.cbytes) : std::nullopt) {}

  // Its nbytes counts `chunks` and not the tail; frame_size and cbytes are those of the base.
  format::FrameHeader header;
  std::vector<std::byte> header_bytes;
  ChunkIndex chunks;
  std::vector<VlLayer> vlmetalayers;
  // Items that do not fill a chunk yet. Only in frames of fixed chunks.
  std::vector<std::byte> tail;
  // Bytes of the stored chunks; empty when the base did not know.
  std::optional<int64_t> stored_bytes;
  bool edited = false;
  bool metalayers_edited = false;

  int64_t nbytes() const { return header.nbytes + static_cast<int64_t>(tail.size()); }
  // The tail counts as the last chunk.
  int64_t nchunks() const { return chunks.size() + (tail.empty() ? 0 : 1); }
  bool fixed_chunks() const { return !header.variable_chunks(); }

  void Insert(int64_t nchunk, const StagedChunk& chunk);
  void Replace(int64_t nchunk, const ChunkCost& old, const StagedChunk& chunk);
  void Erase(int64_t first, int64_t count, const ChunkCost& old);

 private:
  void Count(const ChunkCost& cost, int64_t sign);
};

inline void Draft::Count(const ChunkCost& cost, int64_t sign) {
  header.nbytes += sign * cost.nbytes;
  stored_bytes = stored_bytes.has_value() && cost.stored.has_value()
                     ? std::optional(*stored_bytes + sign * *cost.stored)
                     : std::nullopt;
  edited = true;
}

inline void Draft::Insert(int64_t nchunk, const StagedChunk& chunk) {
  chunks.Insert(nchunk, chunk.entry);
  Count(chunk.cost, 1);
}

inline void Draft::Replace(int64_t nchunk, const ChunkCost& old, const StagedChunk& chunk) {
  chunks.Replace(nchunk, chunk.entry);
  Count(old, -1);
  Count(chunk.cost, 1);
}

inline void Draft::Erase(int64_t first, int64_t count, const ChunkCost& old) {
  chunks.Erase(first, count);
  Count(old, -1);
}

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_DRAFT_H_
