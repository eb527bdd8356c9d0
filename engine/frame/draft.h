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
  // `stored` is the chunk's size in the file, 0 for special chunks of the index.
  void AddChunk(IndexEntry entry, int64_t nbytes, int64_t stored);
  void RemoveLastChunk(int64_t nbytes, int64_t stored);
};

inline void Draft::AddChunk(IndexEntry entry, int64_t nbytes, int64_t stored) {
  chunks.Append(entry);
  header.nbytes += nbytes;
  if (stored_bytes.has_value()) *stored_bytes += stored;
  edited = true;
}

inline void Draft::RemoveLastChunk(int64_t nbytes, int64_t stored) {
  chunks.RemoveLast();
  header.nbytes -= nbytes;
  if (stored_bytes.has_value()) *stored_bytes -= stored;
  edited = true;
}

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_DRAFT_H_
