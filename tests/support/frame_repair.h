// Fills in what ties the parts of a changed frame together, so that not every change is found by
// the first check.
#ifndef CAIRN_TESTS_SUPPORT_FRAME_REPAIR_H_
#define CAIRN_TESTS_SUPPORT_FRAME_REPAIR_H_

#include "cairn/types.h"

namespace cairn::test {

// Writes the size of the frame into its header, where it has one.
void RepairFrameSize(MutableBytes frame);

// Computes the hashes of a frame that Cairn has sealed: those of header, index, first page, its
// chunks and trailer. An attacker would.
void RepairSeal(MutableBytes frame);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FRAME_REPAIR_H_
