// Puts the record of a commit into an object store, and finds out whether it is there.
//
// The answer to a put may be lost, and the put itself may come later. Then a fence, which is a
// record that says nothing, is put under the same name. One of the two stays there for good, and
// the other can never come.
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
  kMade,    // the record is there
  kTaken,   // another record was there before
  kFenced,  // the outcome was unknown, and now another record lies there: this one never will
};

// Puts `record` under the name of `position`. If something is there already, reads it from
// `journal` to compare. If the outcome is unknown, or the put is refused although nothing is there,
// puts `fence` to settle it, for as long as the put took and for at least 1 s.
//
// A record that was there may have been removed as garbage, and then a fence tells nothing. The
// caller knows by the time whether that is possible.
//
// Errors:
//   kUnavailable if nothing was done.
//   kDeadlineExceeded if the fence has no known outcome either. The record may be there, or come
//     later.
//   kCancelled if the put was cancelled. The record may be there, or come later.
absl::StatusOr<RecordFate> PutRecord(ObjectStore& store, const FrameFile& journal, int64_t position,
                                     Bytes record, Bytes fence);

// The most attempts to be the next commit.
inline constexpr int kMostAttempts = 1000;
// Pauses before another attempt, for a random time, so that writers do not meet again.
void PauseBeforeAttempt(int attempt);

// Returns a fence: another receipt of the last commit, which every reader and writer skips.
std::vector<std::byte> EncodeFence(const JournalPosition& journal, uint64_t writer_id);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_RECORD_H_
