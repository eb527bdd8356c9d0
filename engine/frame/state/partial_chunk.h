// The last chunk while it is being filled: its pending items.
#ifndef CAIRN_ENGINE_FRAME_STATE_PARTIAL_CHUNK_H_
#define CAIRN_ENGINE_FRAME_STATE_PARTIAL_CHUNK_H_

#include <cstdint>
#include <optional>

#include "cairn/types.h"
#include "engine/base/growing.h"
#include "engine/frame/index/index_entry.h"

namespace cairn::frame {

// A stored chunk, no longer in the index, with which a partial chunk begins.
struct StoredPrefix {
  IndexEntry entry;
  int64_t nbytes = 0;
  int64_t stored = 0;
};

// Cheap to copy; not thread-safe for appends. Only frames of fixed chunks have one.
struct PartialChunk {
  std::optional<StoredPrefix> head;
  SharedAppendVector<std::byte> items;  // after the head's

  int64_t nbytes() const {
    return (head.has_value() ? head->nbytes : 0) + static_cast<int64_t>(items.size());
  }
  bool empty() const { return nbytes() == 0; }
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_PARTIAL_CHUNK_H_
