// Puts the record of a commit into an object store, and finds out whether it is there.
//
// The answer to a put may be lost, and the put itself may come later. Then another record, which
// says nothing, is put under the same name: a fence. One of the two stays there for good, and the
// other never can come.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_RECORD_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/object_store.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

enum class RecordFate {
  kMade,    // it is there
  kTaken,   // another one was there before
  kFenced,  // another one is there since its outcome was unknown: it never will be
};

// Puts `record` under the name of `position`; `journal` is read to compare what is there. An
// unknown outcome is settled by `fence`, in as much time again as the put took.
//
// Errors: kUnavailable, nothing was done; kDeadlineExceeded, also the fence has no known outcome,
// and the record may be there, or come; kCancelled likewise.
absl::StatusOr<RecordFate> PutRecord(ObjectStore& store, const FrameFile& journal, int64_t position,
                                     Bytes record, Bytes fence);

// Between two attempts to be the next: at random, so that writers do not meet again.
inline constexpr int kMostAttempts = 1000;
void PauseBeforeAttempt(int attempt);

// One more receipt of the last commit, which every reader and writer passes over.
std::vector<std::byte> EncodeFence(const JournalPosition& journal, uint64_t writer_id);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_RECORD_H_
