// Fills in what ties the parts of a changed frame together, so that not every change is found by
// the first check.
#ifndef CAIRN_TESTS_SUPPORT_FRAME_REPAIR_H_
#define CAIRN_TESTS_SUPPORT_FRAME_REPAIR_H_

#include "absl/functional/function_ref.h"

#include "cairn/types.h"
#include "engine/format/seal.h"

namespace cairn::test {

// Writes the size of the frame into its header, where it has one.
void RepairFrameSize(MutableBytes frame);

// Computes the hashes of a frame that Cairn has sealed: those of header, index, first page, its
// chunks and trailer. An attacker would.
void RepairSeal(MutableBytes frame);

// Changes what the seal of a frame says, and nothing about how long it is; then repairs it.
void EditSeal(MutableBytes frame, absl::FunctionRef<void(format::Seal&)> edit);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FRAME_REPAIR_H_
