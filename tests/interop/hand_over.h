// How a writer leaves a frame to another Blosc2.
#ifndef CAIRN_TESTS_INTEROP_HAND_OVER_H_
#define CAIRN_TESTS_INTEROP_HAND_OVER_H_

#include "absl/status/status.h"

#include "cairn/writer.h"

namespace cairn::interop {

// Close alone may leave commits in the journal, which only Cairn reads.
inline absl::Status HandOver(Writer& writer) {
  const absl::Status status = writer.Checkpoint();
  return status.ok() ? writer.Close() : status;
}

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_HAND_OVER_H_
