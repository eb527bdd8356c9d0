// Frames that Cairn writes by random edits, and the model that they must equal.
#ifndef CAIRN_TESTS_INTEROP_FRAME_CASE_H_
#define CAIRN_TESTS_INTEROP_FRAME_CASE_H_

#include <ostream>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "tests/interop/data.h"
#include "tests/interop/peer_frame.h"

namespace cairn::interop {

// The way in which a frame is made.
enum class Birth { kCreated, kBuilt, kInMemory };

struct FrameCase {
  Birth birth = Birth::kCreated;
  CreateOptions options;
  // Kinds of data to append, and whether special values may be.
  std::span<const DataKind> kinds = kAllDataKinds;
  bool specials = true;
  // The content that the frame must have.
  Buffer content;
  Layers metalayers;
  Layers vlmetalayers;
  bool has_uninit = false;
  int64_t nedits = 0;  // so far

  int32_t typesize() const { return options.compression.typesize; }
};

std::ostream& operator<<(std::ostream& stream, const FrameCase& c);

FrameCase MakeFrameCase(Random& random);
// Makes a case that C-Blosc2 may then edit without tripping over itself. The block size is
// automatic (C-Blosc2 stores others as requested), there are no dictionaries (it cannot read
// incompressible chunks with one), and no chunk is all zeros (it loses their sizes when chunks
// become variable).
FrameCase MakeEditableFrameCase(Random& random);

// Bytes that a metalayer may hold; empty at times.
Buffer MakeContent(Random& random);

// Sets or deletes one of the layers.
absl::Status EditMetadataAtRandom(Writer* writer, Random& random, FrameCase* c);
// Some random edits, with commits between them, through the writer and on the model.
absl::Status EditAtRandom(Writer* writer, Random& random, FrameCase* c);
// Creates the frame, edits it, closes it and continues in reopened writers. Leaves the frame at
// `path`, those in memory too.
absl::Status WriteFrame(const std::string& path, Random& random, FrameCase* c);

// All that Cairn reads from the frame equals the model, and verification finds nothing.
void ExpectHolds(const Snapshot& snapshot, const FrameCase& c);

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_FRAME_CASE_H_
