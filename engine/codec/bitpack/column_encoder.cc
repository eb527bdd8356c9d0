#include "engine/codec/bitpack/column_encoder.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/base/check.h"
#include "engine/codec/bitpack/vector_encoder.h"

namespace cairn::bitpack {

namespace {

using numbers::Latent;
using numbers::NumberKind;
using numbers::NumberOf;

constexpr size_t kSample = 64;

// Counts the floats that decimals of a scale stand for. Stops where more than half do not.
template <bool kMultiplied, HasDecimals L>
size_t CountDecimals(int power, std::span<const L> floats) {
  const auto factor = FactorOf<L>({.power = power, .multiplied = kMultiplied});
  const double multiplier = DecimalsOf<uint64_t>::kPowers[static_cast<size_t>(power)];
  size_t others = 0;
  for (const L bits : floats) {
    bool exact = false;
    WholeOfFloat<kMultiplied>(bits, multiplier, factor, exact);
    others += exact ? 0 : 1;
    if (2 * others > floats.size()) return 0;
  }
  return floats.size() - others;
}

// Returns the scale of decimals that most of the floats are, with the lowest power, if half of them
// are.
template <Latent L>
std::optional<Scale> FindScale(std::span<const L> latents) {
  if constexpr (HasDecimals<L>) {
    std::vector<L> sample;
    const size_t step = std::max<size_t>(1, latents.size() / kSample);
    for (size_t i = 0; i < latents.size(); i += step) {
      sample.push_back(NumberOf(NumberKind::kFloat, latents[i]));
    }
    std::optional<Scale> best;
    size_t most = 0;
    for (int i = 0; i <= 2 * kMaxPower<L> && most < sample.size(); ++i) {
      const bool multiplied = i > kMaxPower<L>;
      const int power = multiplied ? i - kMaxPower<L> : i;
      const size_t found = multiplied ? CountDecimals<true, L>(power, sample)
                                      : CountDecimals<false, L>(power, sample);
      if (found <= most) continue;
      most = found;
      best = Scale{.power = power, .multiplied = multiplied};
    }
    return best;
  }
  return std::nullopt;
}

template <Latent L>
class ColumnEncoderOf final : public ColumnEncoder {
 public:
  NumberKind Encode(std::span<const NumberKind> kinds, Bytes numbers, ByteWriter& out) override {
    CAIRN_DCHECK(numbers.size() % sizeof(L) == 0);
    NumberKind best = kinds.front();
    EncodeAs(best, numbers);
    for (const NumberKind kind : kinds.subspan(1)) {
      vectors_.swap(kept_);
      ends_.swap(kept_ends_);
      EncodeAs(kind, numbers);
      if (vectors_.size() < kept_.size()) {
        best = kind;
      } else {
        vectors_.swap(kept_);
        ends_.swap(kept_ends_);
      }
    }
    out.Varint(ends_.size() * sizeof(uint32_t) + vectors_.size());
    for (const uint32_t end : ends_) out.Le(end);
    out.Append(vectors_);
    return best;
  }

 private:
  // Encodes the vectors of a column.
  void EncodeAs(NumberKind kind, Bytes numbers) {
    latents_.resize(numbers.size() / sizeof(L));
    KernelsFor<L>().load(kind, numbers.data(), latents_);
    const std::span<const L> latents = latents_;
    const std::optional<Scale> scale =
        kind == NumberKind::kFloat ? FindScale(latents) : std::nullopt;
    vectors_.clear();
    ends_.clear();
    for (size_t begin = 0; begin < latents.size(); begin += kVector) {
      const size_t count = std::min(kVector, latents.size() - begin);
      encoder_.Encode(kind, latents.subspan(begin, count), scale, vectors_);
      ends_.push_back(static_cast<uint32_t>(vectors_.size()));
    }
  }

  VectorEncoder<L> encoder_;
  std::vector<L> latents_;
  std::vector<std::byte> vectors_;
  std::vector<uint32_t> ends_;
  // Vectors and ends of another kind:
  std::vector<std::byte> kept_;
  std::vector<uint32_t> kept_ends_;
};

}  // namespace

std::unique_ptr<ColumnEncoder> ColumnEncoder::Make(int size) {
  switch (size) {
    case 1:
      return std::make_unique<ColumnEncoderOf<uint8_t>>();
    case 2:
      return std::make_unique<ColumnEncoderOf<uint16_t>>();
    case 4:
      return std::make_unique<ColumnEncoderOf<uint32_t>>();
    default:
      return std::make_unique<ColumnEncoderOf<uint64_t>>();
  }
}

}  // namespace cairn::bitpack
