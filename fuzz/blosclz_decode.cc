// The input is the decoded size, 2 bytes, and a BloscLZ stream. It must decode to what a decoder
// gives that goes byte by byte, or be refused by both.

#include <optional>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/codec/blosclz.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

// The stream's description in code.
class SlowDecoder {
 public:
  SlowDecoder(Bytes stream, size_t size) : stream_(stream), size_(size) {}

  std::optional<std::vector<std::byte>> Decode() {
    if (stream_.empty()) return std::nullopt;
    Literals(Next() & 0x1F);
    while (good_ && at_ < stream_.size()) {
      const size_t control = Next();
      control < 0x20 ? Literals(control) : Match(control);
    }
    if (!good_ || out_.size() != size_) return std::nullopt;
    return std::move(out_);
  }

 private:
  size_t Next() {
    if (at_ == stream_.size()) good_ = false;
    return good_ ? std::to_integer<size_t>(stream_[at_++]) : 0;
  }
  void Put(std::byte value) {
    if (out_.size() == size_) good_ = false;
    if (good_) out_.push_back(value);
  }
  void Literals(size_t control) {
    for (size_t i = 0; i <= control && good_; ++i) Put(static_cast<std::byte>(Next()));
  }
  void Match(size_t control) {
    size_t length = control >> 5;
    size_t more = length == 7 ? 255 : 0;
    while (more == 255) length += more = Next();
    const size_t low = Next();
    size_t distance = (control & 0x1F) * 256 + low + 1;
    if (distance == 8192) {
      const size_t high = Next();
      distance = 256 * high + Next() + 8192;
    }
    if (distance > out_.size()) good_ = false;
    for (size_t i = 0; i < length + 2 && good_; ++i) Put(out_[out_.size() - distance]);
  }

  const Bytes stream_;
  const size_t size_;
  size_t at_ = 0;
  bool good_ = true;
  std::vector<std::byte> out_;
};

void Decode(Input input) {
  const size_t size = input.Number<uint16_t>();
  // Exactly as large as it is, so that one byte too far is seen.
  const std::vector<std::byte> stream = ToVector(input.rest());
  std::vector<std::byte> decoded(size);
  const bool good = IsAnswer(codec::DecodeBloscLz(stream, decoded));
  const std::optional<std::vector<std::byte>> expected = SlowDecoder(stream, size).Decode();
  Check(good == expected.has_value(), "both decoders take a stream or both refuse it");
  if (good) Check(decoded == *expected, "both decoders give the same bytes");
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Decode(cairn::fuzz::Input(data, size));
  return 0;
}
