#include "engine/codec/pco/chunk_decoder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/codec/pco/latent_decoder.h"

namespace cairn::pco {

namespace {

template <Latent L>
using Batch = std::array<L, kBatch>;

// Turns the latents of a batch into numbers, as the mode of their chunk says.
template <Latent L>
class Joiner {
 public:
  Joiner(NumberKind kind, const ChunkMeta& meta) : kind_(kind), meta_(meta) {}

  // Writes the latents of the numbers over `primary`.
  void Join(std::span<const L> secondary, std::span<L> primary) const {
    if (meta_.mode == Mode::kIntMult) {
      const L mult = static_cast<L>(meta_.mult);
      for (size_t i = 0; i < primary.size(); ++i) {
        primary[i] = static_cast<L>(uint64_t{primary[i]} * mult + secondary[i]);
      }
    }
    if constexpr (FloatLatent<L>) {
      if (meta_.mode == Mode::kFloatMult) JoinFloatMult(secondary, primary);
      if (meta_.mode == Mode::kFloatQuant) JoinFloatQuant(secondary, primary);
    }
  }

 private:
  void JoinFloatMult(std::span<const L> secondary, std::span<L> primary) const {
    using F = FloatOf<L>;
    const auto base = F::FromBits(NumberOf<L>(NumberKind::kFloat, static_cast<L>(meta_.mult)));
    for (size_t i = 0; i < primary.size(); ++i) {
      const auto product = static_cast<typename F::Type>(WholeFloatOf<L>(primary[i]) * base);
      const L latent = LatentOf<L>(NumberKind::kFloat, F::ToBits(product));
      primary[i] = static_cast<L>(static_cast<L>(latent + secondary[i]) ^ kMid<L>);
    }
  }

  void JoinFloatQuant(std::span<const L> secondary, std::span<L> primary) const {
    const int bits = meta_.quant_bits;
    const L first_positive = static_cast<L>(kMid<L> >> bits);
    const L most = static_cast<L>((L{1} << bits) - 1);
    for (size_t i = 0; i < primary.size(); ++i) {
      // The low bits of a negative float are turned around, as the rest is.
      const L low =
          primary[i] >= first_positive ? secondary[i] : static_cast<L>(most - secondary[i]);
      primary[i] = static_cast<L>(static_cast<L>(primary[i] << bits) + low);
    }
  }

  NumberKind kind_;
  const ChunkMeta& meta_;
};

template <Latent L>
class ChunkDecoderOf final : public ChunkDecoder {
 public:
  ChunkDecoderOf(NumberKind kind, ChunkMeta meta)
      : kind_(kind), meta_(std::move(meta)), joiner_(kind, meta_) {
    if (meta_.lookbacks) lookbacks_.emplace(meta_, *meta_.lookbacks);
    if (meta_.mode == Mode::kDict) {
      indices_.emplace(meta_, meta_.primary);
    } else {
      primary_.emplace(meta_, meta_.primary);
    }
    if (meta_.secondary) secondary_.emplace(meta_, *meta_.secondary);
  }

  absl::Status DecodePage(BitReader& in, MutableBytes out) override {
    CAIRN_DCHECK(out.size() % sizeof(L) == 0);
    const auto count = static_cast<int64_t>(out.size() / sizeof(L));
    CAIRN_RETURN_IF_ERROR(BeginPage(count, in));
    for (int64_t left = count; left > 0;) {
      const auto size = static_cast<size_t>(std::min<int64_t>(left, kBatch));
      CAIRN_RETURN_IF_ERROR(DecodeBatch(left, in, out.first(size * sizeof(L))));
      if (!in.in_bounds()) return DataLoss("pco: the stream ends %d numbers before its page", left);
      out = out.subspan(size * sizeof(L));
      left -= static_cast<int64_t>(size);
    }
    if (!in.Align()) return DataLoss("pco: bits are set after a page");
    return absl::OkStatus();
  }

 private:
  absl::Status BeginPage(int64_t count, BitReader& in) {
    if (lookbacks_) {
      const int64_t stored = std::max<int64_t>(count - meta_.StateCount(), 0);
      CAIRN_RETURN_IF_ERROR(lookbacks_->BeginPage(stored, in));
    }
    CAIRN_RETURN_IF_ERROR(indices_ ? indices_->BeginPage(count, in)
                                   : primary_->BeginPage(count, in));
    if (secondary_) CAIRN_RETURN_IF_ERROR(secondary_->BeginPage(count, in));
    if (!in.Align()) return DataLoss("pco: bits are set before the first batch of a page");
    if (!in.in_bounds()) return DataLoss("pco: the stream ends in the begin of a page");
    return absl::OkStatus();
  }

  // Decodes the first of `left` numbers: as many as `out` takes.
  absl::Status DecodeBatch(int64_t left, BitReader& in, MutableBytes out) {
    const size_t size = out.size() / sizeof(L);
    std::span<const uint32_t> lookbacks;
    Batch<uint32_t> lookback_batch;
    if (lookbacks_) {
      const int64_t stored = std::clamp<int64_t>(left - meta_.StateCount(), 0, kBatch);
      const auto batch = std::span(lookback_batch).first(static_cast<size_t>(stored));
      CAIRN_RETURN_IF_ERROR(lookbacks_->NextBatch({}, in, batch));
      lookbacks = batch;
    }
    Batch<L> primary_batch;
    const auto primary = std::span(primary_batch).first(size);
    CAIRN_RETURN_IF_ERROR(indices_ ? LookUp(lookbacks, in, primary)
                                   : primary_->NextBatch(lookbacks, in, primary));
    if (secondary_) {
      Batch<L> secondary_batch;
      const auto secondary = std::span(secondary_batch).first(size);
      CAIRN_RETURN_IF_ERROR(secondary_->NextBatch(lookbacks, in, secondary));
      joiner_.Join(secondary, primary);
    }
    for (size_t i = 0; i < size; ++i) {
      StoreLe(out.data() + i * sizeof(L), NumberOf<L>(kind_, primary[i]));
    }
    return absl::OkStatus();
  }

  absl::Status LookUp(std::span<const uint32_t> lookbacks, BitReader& in, std::span<L> out) {
    Batch<uint32_t> batch;
    const auto indices = std::span(batch).first(out.size());
    CAIRN_RETURN_IF_ERROR(indices_->NextBatch(lookbacks, in, indices));
    for (size_t i = 0; i < out.size(); ++i) {
      if (indices[i] >= meta_.dict.size()) {
        return DataLoss("pco: number %d of a dictionary of %d", indices[i], meta_.dict.size());
      }
      out[i] = static_cast<L>(meta_.dict[indices[i]]);
    }
    return absl::OkStatus();
  }

  NumberKind kind_;
  const ChunkMeta meta_;
  Joiner<L> joiner_;
  std::optional<LatentDecoder<uint32_t>> lookbacks_;
  std::optional<LatentDecoder<uint32_t>> indices_;  // in place of primary_ if there is a dictionary
  std::optional<LatentDecoder<L>> primary_;
  std::optional<LatentDecoder<L>> secondary_;
};

}  // namespace

std::unique_ptr<ChunkDecoder> ChunkDecoder::Make(NumberType type, ChunkMeta meta) {
  switch (type.size) {
    case 1:
      return std::make_unique<ChunkDecoderOf<uint8_t>>(type.kind, std::move(meta));
    case 2:
      return std::make_unique<ChunkDecoderOf<uint16_t>>(type.kind, std::move(meta));
    case 4:
      return std::make_unique<ChunkDecoderOf<uint32_t>>(type.kind, std::move(meta));
    default:
      CAIRN_DCHECK(type.size == 8);
      return std::make_unique<ChunkDecoderOf<uint64_t>>(type.kind, std::move(meta));
  }
}

}  // namespace cairn::pco
