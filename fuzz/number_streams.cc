// The input is a file of pco, a stream of a codec of numbers, or numbers. Whatever the bytes: they
// decode always or never, inside their bounds, and numbers come back as they were.

#include <algorithm>
#include <vector>

#include "cairn/options.h"
#include "engine/codec/codec_set.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"
#include "tests/support/pco_file.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

void DecodeFile(Bytes file) {
  constexpr size_t kMost = 1 << 20;
  const auto numbers = test::DecodePcoFile(file, kMost);
  const auto again = test::DecodePcoFile(file, kMost);
  Check(numbers.ok() == again.ok(), "a file decodes always or never");
  if (!numbers.ok()) return;
  CheckSame(*again, *numbers, "what decodes depends on the file alone");
  const auto parts = test::DecodePcoFile(file, kMost, numbers->size() / 16 + 1);
  Check(parts.ok(), "parts of pages decode");
  CheckSame(*parts, *numbers, "parts of pages are the same");
}

void DecodeStream(size_t size, codec::StreamCodec& codec, Bytes bytes) {
  const PluginCall call;
  const Buffer stream(bytes.begin(), bytes.end());  // so that one byte too far is seen
  Buffer decoded(size, std::byte{0x5A});
  const bool good = IsAnswer(codec.Decompress(stream, decoded, call));
  Buffer again(size, std::byte{0xA5});
  Check(codec.Decompress(stream, again, call).ok() == good, "a stream decodes always or never");
  if (!good) return;
  CheckSame(again, decoded, "what decodes depends on the stream alone");
  Buffer start(size);
  CheckOk(codec.DecompressStart(stream, start, size / 3, call), "the start decodes");
  CheckSame(Bytes(start).first(size / 3), Bytes(decoded).first(size / 3), "the start is the same");
  Buffer middle(size);
  const size_t begin = size / 3;
  const size_t end = size - size / 5;
  CheckOk(codec.DecompressPart(stream, middle, {.begin = begin, .end = end}, call),
          "the middle decodes");
  CheckSame(Bytes(middle).first(end).subspan(begin), Bytes(decoded).first(end).subspan(begin),
            "the middle is the same");
  Buffer few(size);
  const size_t most = std::min(size, begin + 9);
  CheckOk(codec.DecompressPart(stream, few, {.begin = begin, .end = most}, call), "few decode");
  CheckSame(Bytes(few).first(most).subspan(begin), Bytes(decoded).first(most).subspan(begin),
            "few are the same");
}

// Columns of records, if `choice` says so.
std::vector<ItemColumn> ColumnsOf(uint8_t choice, int size) {
  if (choice % 2 == 0) return {};
  return {{.kind = static_cast<uint8_t>(size > 1 ? 3 : 1), .size = size, .count = 1 + choice / 64},
          {.kind = 0, .count = 1 + choice / 2 % 4},
          {.kind = static_cast<uint8_t>(1 + choice / 8 % 2), .size = 1 << choice / 16 % 4}};
}

void RoundTrip(int size, uint8_t choice, int clevel, codec::StreamCodec& codec, Bytes numbers) {
  codec.UseColumns(ColumnsOf(choice, size));
  const PluginCall call{
      .typesize = size, .clevel = clevel, .meta = static_cast<uint8_t>(choice / 2 % 5)};
  Buffer coded(numbers.size());
  coded.resize(codec.Compress(numbers, coded, call).value());
  if (coded.empty()) return;
  Buffer decoded(numbers.size());
  CheckOk(codec.Decompress(coded, decoded, call), "what is coded decodes");
  CheckSame(decoded, numbers, "numbers come back as they were");
}

void Run(Input input) {
  codec::CodecSet set;
  const auto kind = input.Number<uint8_t>() % 7;
  if (kind == 0) return DecodeFile(input.rest());
  constexpr Codec kCodecs[] = {Codec::kPco, Codec::kBitpack, Codec::kAuto};
  codec::StreamCodec& codec = **set.Get(kCodecs[(kind - 1) / 2], nullptr);
  if (kind % 2 == 1) {
    const auto size = input.Number<uint16_t>();
    return DecodeStream(size, codec, input.rest());
  }
  const int size = 1 << input.Number<uint8_t>() % 4;
  const auto choice = input.Number<uint8_t>();
  const int clevel = 1 + input.Number<uint8_t>() % 9;
  const Bytes numbers = input.rest();
  if (!numbers.empty()) RoundTrip(size, choice, clevel, codec, numbers);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Run(cairn::fuzz::Input(data, size));
  return 0;
}
