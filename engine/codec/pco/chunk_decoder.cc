#include "engine/codec/pco/chunk_decoder.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/status.h"
#include "engine/codec/pco/latent_decoder.h"
#include "engine/codec/pco/latent_kernels.h"

namespace cairn::pco {

namespace {

template <Latent L>
using Batch = std::array<L, kBatch>;

template <Latent L>
class ChunkDecoderOf final : public ChunkDecoder {
 public:
  void BeginChunk(NumberKind kind, ChunkMeta meta) override {
    kind_ = kind;
    meta_ = std::move(meta);
    if (meta_.lookbacks) lookbacks_.BeginChunk(meta_, *meta_.lookbacks);
    if (meta_.mode == Mode::kDict) {
      indices_.BeginChunk(meta_, meta_.primary);
    } else {
      primary_.BeginChunk(meta_, meta_.primary);
    }
    if (meta_.secondary) secondary_.BeginChunk(meta_, *meta_.secondary);
  }

  absl::Status DecodePage(BitReader& in, size_t count, MutableBytes out) override {
    CAIRN_DCHECK(out.size() % sizeof(L) == 0 && out.size() / sizeof(L) <= count);
    auto left = static_cast<int64_t>(count);
    CAIRN_RETURN_IF_ERROR(BeginPage(left, in));
    while (!out.empty()) {
      const size_t size = static_cast<size_t>(std::min<int64_t>(left, kBatch)) * sizeof(L);
      if (size <= out.size()) {
        CAIRN_RETURN_IF_ERROR(DecodeBatch(left, in, out.first(size)));
      } else {
        std::array<std::byte, kBatch * sizeof(L)> batch;
        CAIRN_RETURN_IF_ERROR(DecodeBatch(left, in, MutableBytes(batch).first(size)));
        CopyBytes(Bytes(batch).first(out.size()), out);
      }
      if (!in.in_bounds()) return DataLoss("pco: the stream ends %d numbers before its page", left);
      out = out.subspan(std::min(size, out.size()));
      left -= static_cast<int64_t>(size / sizeof(L));
    }
    if (left == 0 && !in.Align()) return DataLoss("pco: bits are set after a page");
    return absl::OkStatus();
  }

 private:
  absl::Status BeginPage(int64_t count, BitReader& in) {
    if (meta_.lookbacks) {
      const int64_t stored = std::max<int64_t>(count - meta_.StateCount(), 0);
      CAIRN_RETURN_IF_ERROR(lookbacks_.BeginPage(stored, in));
    }
    CAIRN_RETURN_IF_ERROR(meta_.mode == Mode::kDict ? indices_.BeginPage(count, in)
                                                    : primary_.BeginPage(count, in));
    if (meta_.secondary) CAIRN_RETURN_IF_ERROR(secondary_.BeginPage(count, in));
    if (!in.Align()) return DataLoss("pco: bits are set before the first batch of a page");
    if (!in.in_bounds()) return DataLoss("pco: the stream ends in the begin of a page");
    return absl::OkStatus();
  }

  // Decodes the first of `left` numbers: as many as `out` takes.
  absl::Status DecodeBatch(int64_t left, BitReader& in, MutableBytes out) {
    const size_t size = out.size() / sizeof(L);
    std::span<const uint32_t> lookbacks;
    Batch<uint32_t> lookback_batch;
    if (meta_.lookbacks) {
      const int64_t stored = std::clamp<int64_t>(left - meta_.StateCount(), 0, kBatch);
      const auto batch = std::span(lookback_batch).first(static_cast<size_t>(stored));
      CAIRN_RETURN_IF_ERROR(lookbacks_.NextBatch({}, in, batch));
      lookbacks = batch;
    }
    Batch<L> primary_batch;
    const auto primary = std::span(primary_batch).first(size);
    CAIRN_RETURN_IF_ERROR(meta_.mode == Mode::kDict ? LookUp(lookbacks, in, primary)
                                                    : primary_.NextBatch(lookbacks, in, primary));
    if (meta_.secondary) {
      Batch<L> secondary_batch;
      const auto secondary = std::span(secondary_batch).first(size);
      CAIRN_RETURN_IF_ERROR(secondary_.NextBatch(lookbacks, in, secondary));
      kernels_.join(meta_, secondary, primary);
    }
    kernels_.store(kind_, primary, out.data());
    return absl::OkStatus();
  }

  absl::Status LookUp(std::span<const uint32_t> lookbacks, BitReader& in, std::span<L> out) {
    Batch<uint32_t> batch;
    const auto indices = std::span(batch).first(out.size());
    CAIRN_RETURN_IF_ERROR(indices_.NextBatch(lookbacks, in, indices));
    for (size_t i = 0; i < out.size(); ++i) {
      if (indices[i] >= meta_.dict.size()) {
        return DataLoss("pco: number %d of a dictionary of %d", indices[i], meta_.dict.size());
      }
      out[i] = static_cast<L>(meta_.dict[indices[i]]);
    }
    return absl::OkStatus();
  }

  const LatentKernels<L>& kernels_ = KernelsFor<L>();
  NumberKind kind_ = NumberKind::kUint;
  ChunkMeta meta_;
  LatentDecoder<uint32_t> lookbacks_;
  LatentDecoder<uint32_t> indices_;  // in place of primary_ if there is a dictionary
  LatentDecoder<L> primary_;
  LatentDecoder<L> secondary_;
};

}  // namespace

std::unique_ptr<ChunkDecoder> ChunkDecoder::Make(int size) {
  switch (size) {
    case 1:
      return std::make_unique<ChunkDecoderOf<uint8_t>>();
    case 2:
      return std::make_unique<ChunkDecoderOf<uint16_t>>();
    case 4:
      return std::make_unique<ChunkDecoderOf<uint32_t>>();
    default:
      CAIRN_DCHECK(size == 8);
      return std::make_unique<ChunkDecoderOf<uint64_t>>();
  }
}

}  // namespace cairn::pco
