// Remembers which chunks that commits added were verified against their fingerprints.
#ifndef CAIRN_ENGINE_FRAME_STATE_VERIFIED_CHUNKS_H_
#define CAIRN_ENGINE_FRAME_STATE_VERIFIED_CHUNKS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engine/format/index_entry.h"

namespace cairn::frame {

// Chunks of the committed index have a bit each there, except in a forked child. Chunks of the
// journal come and go with every state, so they are remembered here by offset and fingerprint
// within one checkpoint of the file (see State::checkpoint_id). Forgets some if there are many, and
// never mistakes one for another. Thread-safe. Takes memory only when it is used.
class VerifiedChunks {
 public:
  VerifiedChunks() = default;
  ~VerifiedChunks() { delete slots_.load(); }
  VerifiedChunks(const VerifiedChunks&) = delete;
  VerifiedChunks& operator=(const VerifiedChunks&) = delete;

  bool Has(uint64_t checkpoint_id, const format::IndexEntry& entry) const;
  void Add(uint64_t checkpoint_id, const format::IndexEntry& entry);

 private:
  static constexpr size_t kSlots = 8192;
  using Slots = std::array<std::atomic<uint64_t>, kSlots>;

  std::atomic<Slots*> slots_ = nullptr;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_VERIFIED_CHUNKS_H_
