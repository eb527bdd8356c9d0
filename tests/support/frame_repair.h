// Repairs the parts of a changed frame that must fit each other. Without this the first check would
// find every change.
#ifndef CAIRN_TESTS_SUPPORT_FRAME_REPAIR_H_
#define CAIRN_TESTS_SUPPORT_FRAME_REPAIR_H_

#include "absl/functional/function_ref.h"

#include "cairn/types.h"
#include "engine/format/seal.h"

namespace cairn::test {

// Writes the size of the frame into its header, where it has one.
void RepairFrameSize(MutableBytes frame);

// Computes the hashes of a frame that Cairn has sealed, as an attacker would: those of header,
// index, first page, its chunks and trailer.
void RepairSeal(MutableBytes frame);

// Lets `edit` change the seal of a frame, but not its length, and repairs the hashes.
void EditSeal(MutableBytes frame, absl::FunctionRef<void(format::Seal&)> edit);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FRAME_REPAIR_H_
