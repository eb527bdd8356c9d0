// Mutates a frame, of any age, and mostly tells its header the new size and its seal the new
// content.

#include "fuzz/mutator.h"
#include "tests/support/dice.h"
#include "tests/support/frame_repair.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  using namespace cairn::fuzz;
  cairn::test::Dice dice(seed);
  // Most fields say where others are: in three of four cases nothing moves.
  const bool in_place = size > 0 && dice.Below(4) != 0;
  size = LLVMFuzzerMutate(data, size, in_place ? size : max_size);
  if (dice.Below(8) != 0) cairn::test::RepairFrameSize(AsBytes(data, size));
  if (dice.Below(4) != 0) cairn::test::RepairSeal(AsBytes(data, size));
  return size;
}
