// The input is a packed super-chunk of 2015.

#include "engine/base/endian.h"
#include "fuzz/mutator.h"
#include "fuzz/read_all.h"
#include "tests/support/dice.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::ReadFrame(cairn::fuzz::AsBytes(data, size));
  return 0;
}

// Nothing but the agreement of all its numbers tells a super-chunk from other bytes: what moves the
// end of the file moves the table with it.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  constexpr size_t kHeader = 96;
  constexpr size_t kCbytesAt = 32;
  constexpr size_t kTableAt = 72;
  cairn::test::Dice dice(seed);
  const bool in_place = size > 0 && dice.Below(4) != 0;
  const size_t before = size;
  // Half of the time the header, which is the small part of it.
  if (size > kHeader && dice.Below(2) == 0) {
    LLVMFuzzerMutate(data, kHeader, kHeader);
  } else {
    size = LLVMFuzzerMutate(data, size, in_place ? size : max_size);
  }
  if (size < kHeader || dice.Below(8) == 0) return size;
  std::byte* const header = cairn::fuzz::AsBytes(data, size).data();
  cairn::StoreLe(header + kCbytesAt, uint64_t{size});
  const uint64_t table = cairn::LoadLe<uint64_t>(header + kTableAt);
  if (size != before) cairn::StoreLe(header + kTableAt, table + size - before);
  return size;
}
