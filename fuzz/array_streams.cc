// The input is a codec, its parameter, the shape of a block, and a stream of NDLZ or ZFP. Whatever
// its bytes: it decodes always or never, inside its bounds; what decodes can be coded again, and
// NDLZ loses nothing.

#include <array>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/codec/codec_set.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

void Decode(Input input) {
  constexpr std::array kCodecs = {Codec::kNdlz, Codec::kZfpAccuracy, Codec::kZfpPrecision,
                                  Codec::kZfpRate};
  const Codec id = kCodecs[input.Number<uint8_t>() % kCodecs.size()];
  codec::CodecSet set;
  const auto codec = set.Get(id, nullptr);
  if (!codec.ok()) return;  // built without libzfp
  const auto meta = input.Number<uint8_t>();
  const size_t ndim = id == Codec::kNdlz ? 2 : 1 + input.Number<uint8_t>() % 4;
  const int32_t typesize = id == Codec::kNdlz ? 1 : (input.Flag() ? 8 : 4);
  std::vector<int32_t> shape;
  size_t size = static_cast<size_t>(typesize);
  for (size_t d = 0; d < ndim; ++d) {
    shape.push_back(1 + input.Number<uint8_t>() % (ndim < 3 ? 64 : 12));
    size *= static_cast<size_t>(shape.back());
  }
  const PluginCall call{.typesize = typesize, .meta = meta, .blockshape = shape};
  // Exactly as large as they are, so that one byte too far is seen.
  const Buffer stream = ToVector(input.rest());
  Buffer decoded(size, std::byte{0x5A});
  const bool good = IsAnswer((*codec)->Decompress(stream, decoded, call));
  Buffer again(size, std::byte{0xA5});
  Check((*codec)->Decompress(stream, again, call).ok() == good, "a stream decodes always or never");
  if (!good) return;
  CheckSame(again, decoded, "what decodes depends on the stream alone");
  Buffer coded(size);
  coded.resize((*codec)->Compress(decoded, coded, call).value());
  if (coded.empty()) return;
  CheckOk((*codec)->Decompress(coded, again, call), "what is coded decodes");
  if (id == Codec::kNdlz) CheckSame(again, decoded, "NDLZ loses nothing");
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Decode(cairn::fuzz::Input(data, size));
  return 0;
}
