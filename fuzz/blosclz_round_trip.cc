// The input is a byte of level and streams, each 2 bytes of size and its bytes. Each decodes to
// what it was, and the encoder's past changes nothing.

#include <algorithm>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/codec/blosclz.h"
#include "engine/codec/stream_codec.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

void RoundTrip(Input input) {
  const auto choices = input.Number<uint8_t>();
  const int clevel = 1 + choices % 9;
  const size_t repeats = 1 + choices / 9 % 8;
  const auto encoder = codec::MakeBloscLz();
  while (!input.empty()) {
    const Bytes pattern = input.Take(input.Number<uint16_t>());
    Buffer stream;
    for (size_t i = 0; i < repeats; ++i) {
      stream.insert(stream.end(), pattern.begin(), pattern.end());
    }
    Buffer coded(stream.size());
    const size_t size = encoder->Compress(stream, coded, {.clevel = clevel}).value();
    Check(size < stream.size() || size == 0, "a stream is smaller than what it was made of");
    coded.resize(size);
    Buffer fresh(stream.size());
    fresh.resize(codec::MakeBloscLz()->Compress(stream, fresh, {.clevel = clevel}).value());
    Check(fresh == coded, "a used encoder writes the same");
    if (size == 0) continue;
    Buffer decoded(stream.size());
    CheckOk(codec::DecodeBloscLz(coded, decoded), "a stream decodes");
    Check(decoded == stream, "a stream decodes to what it was");
  }
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::RoundTrip(cairn::fuzz::Input(data, size));
  return 0;
}
