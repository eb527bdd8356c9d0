#ifndef CAIRN_FUZZ_FRAME_SIZE_H_
#define CAIRN_FUZZ_FRAME_SIZE_H_

#include "cairn/types.h"

namespace cairn::fuzz {

// Writes the size of the frame into its header, where it has one.
void RepairFrameSize(MutableBytes frame);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_FRAME_SIZE_H_
