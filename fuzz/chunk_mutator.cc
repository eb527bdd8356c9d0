// Mutates a chunk field by field and keeps the rest of it valid.

#include <array>
#include <cstdint>

#include "engine/base/endian.h"
#include "fuzz/chunk_layout.h"
#include "fuzz/mutator.h"
#include "tests/support/dice.h"

namespace cairn::fuzz {
namespace {

constexpr size_t kBlosc1Header = 16;
constexpr size_t kHeader = 32;

uint32_t Load(Bytes chunk, size_t at) { return LoadLe<uint32_t>(chunk.data() + at); }
void Store(MutableBytes chunk, size_t at, uint32_t value) { StoreLe(chunk.data() + at, value); }

// A number that is near, or at an edge.
uint32_t Bend(uint32_t value, test::Dice& dice) {
  static constexpr std::array<uint32_t, 12> kEdges = {
      0, 1, 2, 31, 32, 255, 256, 32768, 1u << 20, 0x7FFFFFDF, 0x7FFFFFFF, 0x80000000};
  switch (dice.Below(6)) {
    case 0:
      return kEdges[dice.Below(kEdges.size())];
    case 1:
      return value << 1;
    case 2:
      return value >> 1;
    case 3:
      return ~value + 1;
    default:
      return value + static_cast<uint32_t>(dice.Below(33)) - 16;
  }
}

void BendHeader(MutableBytes chunk, test::Dice& dice) {
  static constexpr std::array<uint8_t, 12> kFilters = {0, 1, 2, 3, 4, 5, 32, 33, 34, 35, 36, 160};
  static constexpr std::array<size_t, 3> kNumbers = {0x04, 0x08, 0x0C};
  static constexpr std::array<uint8_t, 8> kTypesizes = {1, 2, 4, 8, 3, 12, 16, 255};
  const bool extended = chunk.size() >= kHeader;
  switch (dice.Below(extended ? 10 : 5)) {
    case 0:
      chunk[0] = static_cast<std::byte>(dice.Below(8));
      break;
    case 1:
      chunk[2] ^= static_cast<std::byte>(1 << dice.Below(8));
      break;
    case 2:  // another codec
      chunk[2] = (chunk[2] & std::byte{0x1F}) | static_cast<std::byte>(dice.Below(8) << 5);
      break;
    case 3:
      chunk[3] = std::byte{kTypesizes[dice.Below(kTypesizes.size())]};
      break;
    case 4: {
      const size_t at = kNumbers[dice.Below(kNumbers.size())];
      Store(chunk, at, Bend(Load(chunk, at), dice));
      break;
    }
    case 5:
    case 6:
      chunk[0x10 + dice.Below(6)] = std::byte{kFilters[dice.Below(kFilters.size())]};
      break;
    case 7:
      chunk[0x18 + dice.Below(6)] =
          static_cast<std::byte>(dice.Below(2) == 0 ? dice.Below(256) : dice.Below(10));
      break;
    case 8:
      chunk[0x1E] ^= std::byte{1};
      break;
    default:
      chunk[0x1F] ^= static_cast<std::byte>(1 << dice.Below(8));
      break;
  }
}

void BendBlocks(MutableBytes chunk, test::Dice& dice) {
  const ChunkLayout layout{chunk};
  if (layout.positions.empty()) return;
  const size_t position = layout.positions[dice.Below(layout.positions.size())];
  switch (dice.Below(4)) {
    case 0:  // where another block is
      Store(chunk, position, Load(chunk, layout.positions[dice.Below(layout.positions.size())]));
      break;
    case 1:
      Store(chunk, position, Bend(Load(chunk, position), dice));
      break;
    default:
      if (layout.sizes.empty()) return;
      const size_t size = layout.sizes[dice.Below(layout.sizes.size())];
      // A run of any byte is as good as a stream.
      Store(chunk, size,
            dice.Below(4) == 0 ? uint32_t{0} - static_cast<uint32_t>(dice.Below(256))
                               : Bend(Load(chunk, size), dice));
      break;
  }
}

// Mutates one stream in its place.
void BendStream(MutableBytes chunk, test::Dice& dice) {
  const ChunkLayout layout{chunk};
  if (layout.streams.empty()) return;
  const ByteRange& stream = layout.streams[dice.Below(layout.streams.size())];
  LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(chunk.data()) + stream.begin, stream.size,
                   stream.size);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  using namespace cairn::fuzz;
  cairn::test::Dice dice(seed);
  const size_t kind = dice.Below(8);
  if (size < kBlosc1Header || kind == 0) return LLVMFuzzerMutate(data, size, max_size);
  if (kind == 1) {  // another length that the header knows of
    size = LLVMFuzzerMutate(data, size, max_size);
    if (size >= kBlosc1Header) Store(AsBytes(data, size), 0x0C, static_cast<uint32_t>(size));
    return size;
  }
  const cairn::MutableBytes chunk = AsBytes(data, size);
  if (kind <= 3) {
    BendHeader(chunk, dice);
  } else if (kind <= 5) {
    BendBlocks(chunk, dice);
  } else {
    BendStream(chunk, dice);
  }
  return size;
}
