// The input is a byte of choices, 2 bytes of block size, and the metalayer b2nd of a frame whose
// chunks hold their own byte numbers. Boxes of the array, small or whole, agree.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/format/b2nd.h"
#include "fuzz/check.h"
#include "fuzz/frame_parts.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"
#include "fuzz/read_all.h"
#include "tests/support/dice.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;
using Extents = std::vector<int64_t>;

constexpr int64_t kMostItems = 1 << 14;
constexpr int kBoxes = 4;

// The product, when it is no more than `most`.
template <typename T>
std::optional<int64_t> Product(const std::vector<T>& extents, int64_t most) {
  int64_t product = 1;
  for (const int64_t extent : extents) {
    if (extent < 0 || extent > most) return std::nullopt;
    product *= extent;
    if (product > most) return std::nullopt;
  }
  return product;
}

// Chunks as the array would have them; it need not be one that can be.
Buffer MakeFrame(Bytes metalayer, Input choices) {
  const auto kind = choices.Number<uint8_t>();
  const int32_t typesize = 1 << kind % 4;
  const auto blocksize = choices.Number<uint16_t>();
  format::FrameHeader header;
  header.typesize = typesize;
  header.metalayers = {{std::string(kind % 2 == 0 ? "b2nd" : "caterva"), ToVector(metalayer)}};
  const absl::StatusOr<ArrayInfo> array = format::ParseB2nd(metalayer);
  std::optional<int64_t> chunk_items = 64;
  int64_t nchunks = 3;
  int64_t block_items = blocksize;
  if (IsAnswer(array.status())) {
    chunk_items = 1;
    nchunks = 1;
    for (size_t d = 0; d < array->shape.size() && chunk_items.has_value(); ++d) {
      const int64_t chunk = array->chunkshape[d];
      const int64_t block = std::max(array->blockshape[d], 1);
      const int64_t padded = (chunk + block - 1) / block * block;
      chunk_items = Product<int64_t>({*chunk_items, padded}, kMostItems);
      const int64_t count = chunk == 0 ? 0 : (array->shape[d] - 1) / chunk + 1;
      nchunks = Product<int64_t>({nchunks, count}, 64).value_or(64);
    }
    block_items = Product(array->blockshape, kMostItems).value_or(blocksize);
  }
  const int64_t chunksize = std::max<int64_t>(chunk_items.value_or(64), 1) * typesize;
  header.chunksize = static_cast<int32_t>(chunksize);
  header.nbytes = nchunks * chunksize;

  const Buffer payload = [&] {
    Buffer bytes(static_cast<size_t>(chunksize));
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
    return bytes;
  }();
  // Mostly blocks as the array has them.
  const auto block = static_cast<int32_t>((kind & 0x80) != 0 ? blocksize : block_items * typesize);
  const Buffer chunk = MakeChunk(payload, typesize, (kind & 0x40) == 0, block);
  Buffer entries(static_cast<size_t>(nchunks) * 8);  // each leads to the same chunk
  return JoinFrame(header, chunk, entries.empty() ? Buffer() : MakeChunk(entries, 8, true));
}

void CheckBoxes(const Snapshot& snapshot) {
  const Extents& shape = snapshot.array()->shape;
  const auto typesize = static_cast<size_t>(snapshot.info().typesize);
  const std::optional<int64_t> nitems = Product(shape, kMostItems);
  if (!nitems.has_value()) return;
  Buffer whole(static_cast<size_t>(*nitems) * typesize, std::byte{0xA5});
  const absl::Status status = snapshot.ReadBox(Extents(shape.size()), shape, whole);
  if (!status.ok() || *nitems == 0) return;  // ReadAll judges what is refused
  test::Dice dice(whole.size());
  for (int i = 0; i < kBoxes; ++i) {
    Extents start(shape.size());
    Extents extent(shape.size());
    size_t count = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      start[d] = static_cast<int64_t>(dice.Below(static_cast<size_t>(shape[d])));
      extent[d] = 1 + static_cast<int64_t>(dice.Below(static_cast<size_t>(shape[d] - start[d])));
      count *= static_cast<size_t>(extent[d]);
    }
    Buffer box(count * typesize);
    CheckOk(snapshot.ReadBox(start, extent, box), "a box of a readable array is readable");
    for (size_t item = 0; item < count; ++item) {
      size_t rest = item;
      size_t at = 0;
      size_t stride = 1;
      for (size_t d = shape.size(); d-- > 0;) {
        at += (static_cast<size_t>(start[d]) + rest % static_cast<size_t>(extent[d])) * stride;
        rest /= static_cast<size_t>(extent[d]);
        stride *= static_cast<size_t>(shape[d]);
      }
      Check(std::equal(box.begin() + static_cast<ptrdiff_t>(item * typesize),
                       box.begin() + static_cast<ptrdiff_t>((item + 1) * typesize),
                       whole.begin() + static_cast<ptrdiff_t>(at * typesize)),
            "a box is the part of the array");
    }
  }
}

void Read(Input input) {
  const Bytes choices = input.Take(3);
  const Buffer bytes = MakeFrame(input.rest(), Input(choices));
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes, SmallLimits());
  if (!IsAnswer(frame.status())) return;
  ReadAll(frame->snapshot());
  if (frame->snapshot().array().has_value()) CheckBoxes(frame->snapshot());
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::Input(data, size));
  return 0;
}
