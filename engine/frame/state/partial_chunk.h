// The last chunk while it is being filled: its pending items.
#ifndef CAIRN_ENGINE_FRAME_STATE_PARTIAL_CHUNK_H_
#define CAIRN_ENGINE_FRAME_STATE_PARTIAL_CHUNK_H_

#include <cstdint>
#include <optional>

#include "cairn/types.h"
#include "engine/base/shared_append_vector.h"
#include "engine/format/index_entry.h"

namespace cairn::frame {

// Cheap to copy. Only frames of fixed chunks have one.
struct PartialChunk {
  std::optional<format::IndexedChunk> head;  // no longer in the index
  SharedAppendVector<std::byte> items;       // after the head's

  int64_t nbytes() const {
    return (head.has_value() ? head->nbytes : 0) + static_cast<int64_t>(items.size());
  }
  bool empty() const { return nbytes() == 0; }
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_PARTIAL_CHUNK_H_
