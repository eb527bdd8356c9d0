// A checkpoint of a frame: what all states that follow it have in common.
#ifndef CAIRN_ENGINE_FRAME_STATE_CHECKPOINT_H_
#define CAIRN_ENGINE_FRAME_STATE_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/base/extent.h"
#include "engine/format/frame_header.h"
#include "engine/format/seal.h"
#include "engine/frame/state/frame_context.h"

namespace cairn::frame {

// Header and trailer as they are stored. Immutable once a state refers to it, hence thread-safe.
struct Checkpoint {
  std::shared_ptr<const FrameContext> env;
  // Differs between checkpoints, and between files: what a state of this checkpoint found at an
  // offset, with a fingerprint, the others find there too.
  uint64_t id = 0;
  Era era = Era::kCurrent;

  // Without its metalayers, which are in Metadata. Commits change nbytes, chunksize and vlblocks:
  // those of a state are in State.
  format::FrameHeader header;
  std::vector<std::byte> header_bytes;

  Extent index;    // the stored index chunk; empty without chunks
  Extent trailer;  // or whatever holds the vlmetalayers

  std::optional<format::Seal> seal;  // the layer `cairn`, also a stale one
  bool seal_holds = false;           // it is not stale
  bool sealed = false;               // every live byte is covered
  // The seal is good but for bytes of the header that another Blosc2 may change alone.
  bool header_changed_outside = false;
  FingerprintType fingerprint = FingerprintType::kNone;
  // Damage of the trailer that leaves the chunks readable, unchecked; its values are not handed
  // out.
  absl::Status trailer_damage;

  // What only frames of older eras have: bytes that are added to those of each chunk, and chunks
  // that are bitshuffled by the rule of Blosc 1 although their version says otherwise.
  std::optional<std::vector<std::byte>> delta_reference;
  bool whole_block_bitshuffle = false;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_CHECKPOINT_H_
