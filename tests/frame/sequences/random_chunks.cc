#include "tests/frame/sequences/random_chunks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cairn/chunk.h"

namespace cairn::test {

namespace {

constexpr size_t kVersionByte = 0x00;
constexpr size_t kBlosc2FlagsByte = 0x1F;

constexpr Codec kCodecs[] = {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib,
                             Codec::kZstd};

std::vector<FilterStage> RandomFilters(Random& random) {
  switch (Below(random, 4)) {
    case 0:
      return {};
    case 1:
      return {{.filter = Filter::kBitShuffle}};
    case 2:
      return {{.filter = Filter::kDelta}, {.filter = Filter::kShuffle}};
    default:
      return {{.filter = Filter::kShuffle}};
  }
}

CompressionOptions RandomOptions(Random& random, int32_t typesize) {
  CompressionOptions options = OfTypesize(typesize);
  options.codec = kCodecs[Below(random, std::size(kCodecs))];
  options.clevel = static_cast<int>(Below(random, 7));
  options.filters = RandomFilters(random);
  if (Chance(random, 3)) options.blocksize = static_cast<int32_t>(1 + Below(random, 200));
  return options;
}

Buffer ShortHeaderChunk(Bytes items, int32_t typesize) {
  CompressionOptions options = OfTypesize(typesize);
  options.format = ChunkFormat::kBlosc1;
  return Compressed(items, options);
}

// As C-Blosc2 marks incompressible data that it was to code with a dictionary.
Buffer CopyWithDictionaryBit(Bytes items, int32_t typesize) {
  CompressionOptions options = OfTypesize(typesize);
  options.clevel = 0;
  Buffer chunk = Compressed(items, options);
  chunk[kBlosc2FlagsByte] |= std::byte{1};
  return chunk;
}

Buffer OldChunk(Bytes items, int32_t typesize) {
  Buffer chunk = Compressed(items, OfTypesize(typesize));
  chunk[kVersionByte] = std::byte{4};
  return chunk;
}

RandomChunk MakeSpecial(Random& random, int32_t typesize, size_t nbytes) {
  const int32_t width = typesize > 255 ? 1 : typesize;  // as the chunk's header says it
  SpecialValue special = Chance(random, 2) ? SpecialValue::kZeros : SpecialValue::kUninit;
  if (nbytes % static_cast<size_t>(width) != 0) special = SpecialValue::kZeros;
  Buffer value;
  if (Chance(random, 2)) {
    special = SpecialValue::kRepeat;
    const bool whole = nbytes % static_cast<size_t>(typesize) == 0;
    value = MakeItems(whole && !Chance(random, 3) ? static_cast<size_t>(typesize) : 1, random());
  }
  RandomChunk chunk;
  chunk.bytes =
      *MakeSpecialChunk(special, static_cast<int32_t>(nbytes), value, OfTypesize(typesize));
  chunk.content.items = value.empty() ? Buffer(nbytes) : Repeated(value, nbytes);
  return chunk;
}

}  // namespace

Buffer RandomData(Random& random, size_t size) {
  if (Chance(random, 4)) return Buffer(size);
  return Chance(random, 2) ? MakeItems(size, random()) : MakeNoise(size, random());
}

RandomChunk MakeRegularChunk(Random& random, int32_t typesize, size_t nbytes) {
  RandomChunk chunk;
  chunk.content.items = RandomData(random, nbytes);
  const Buffer& items = chunk.content.items;
  switch (Below(random, 8)) {
    case 0:
      chunk = MakeSpecial(random, typesize, nbytes);
      break;
    case 1:
      chunk.bytes = ShortHeaderChunk(items, typesize);
      break;
    case 2:
      chunk.bytes = CopyWithDictionaryBit(items, typesize);
      break;
    case 3:
      chunk.bytes = OldChunk(items, typesize);
      break;
    default:
      chunk.bytes = Compressed(items, RandomOptions(random, typesize));
  }
  chunk.content.compressed = true;
  if (Chance(random, 8)) AddTo(chunk.bytes, MakeNoise(5));  // what follows the chunk is not its
  return chunk;
}

RandomChunk MakeVlChunk(Random& random, int32_t typesize, size_t nbytes) {
  RandomChunk chunk;
  chunk.content.items = RandomData(random, nbytes);
  chunk.content.compressed = true;
  chunk.content.vlblocks = true;
  std::vector<size_t> sizes;
  for (size_t rest = nbytes; rest > 0; rest -= sizes.back()) {
    sizes.push_back(1 + Below(random, rest));
  }
  chunk.bytes = CompressedVl(chunk.content.items, sizes, typesize);
  return chunk;
}

RandomChunk MakeBadChunk(Random& random, int32_t typesize, size_t nbytes) {
  RandomChunk chunk = MakeRegularChunk(random, typesize, nbytes);
  chunk.content.fault = absl::StatusCode::kInvalidArgument;
  switch (Below(random, 3)) {
    case 0:
      chunk.bytes = Compressed(chunk.content.items, OfTypesize(typesize == 2 ? 3 : 2));
      break;
    case 1:
      chunk.bytes = Compressed({}, OfTypesize(typesize));
      chunk.content.items = {};
      break;
    default:
      // No chunk ends within its own header.
      chunk.bytes.resize(Below(random, 16));
      chunk.content.fault = absl::StatusCode::kDataLoss;
  }
  return chunk;
}

}  // namespace cairn::test
