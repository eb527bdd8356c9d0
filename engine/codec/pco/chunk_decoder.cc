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
class ChunkDecoderOf final : public ChunkDecoder {
 public:
  void BeginChunk(NumberKind kind, ChunkMeta meta) override {
    kind_ = kind;
    meta_ = std::move(meta);
    if (meta_.lookbacks) lookbacks_.BeginChunk(meta_, *meta_.lookbacks, false);
    const bool is_last = !meta_.secondary.has_value();
    if (meta_.mode == Mode::kDict) {
      indices_.BeginChunk(meta_, meta_.primary, is_last);
    } else {
      primary_.BeginChunk(meta_, meta_.primary, is_last);
    }
    if (meta_.secondary) secondary_.BeginChunk(meta_, *meta_.secondary, true);
  }

  absl::Status DecodePage(BitReader& in, size_t count, size_t first, MutableBytes out) override {
    CAIRN_DCHECK(out.size() % sizeof(L) == 0 && first + out.size() / sizeof(L) <= count);
    const size_t end = first + out.size() / sizeof(L);
    CAIRN_RETURN_IF_ERROR(BeginPage(static_cast<int64_t>(count), in));
    for (size_t begin = 0; begin < end; begin += kBatch) {
      const auto left = static_cast<int64_t>(count - begin);
      if (begin + kBatch <= first) {
        CAIRN_RETURN_IF_ERROR(SkipBatch(left, in));
      } else {
        const size_t from = std::max(first, begin);
        const size_t to = std::min(end, begin + kBatch);
        const MutableBytes numbers =
            out.subspan((from - first) * sizeof(L), (to - from) * sizeof(L));
        CAIRN_RETURN_IF_ERROR(DecodeBatch(left, from - begin, in, numbers));
      }
      if (!in.in_bounds()) return DataLoss("pco: the stream ends %d numbers before its page", left);
    }
    if (end == count && !in.Align()) return DataLoss("pco: bits are set after a page");
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

  // Decodes numbers of the next batch from number `first` of it on, as many as `out` takes. The
  // page has `left` numbers from the batch on. If the batch has more than is decoded, no other
  // follows.
  absl::Status DecodeBatch(int64_t left, size_t first, BitReader& in, MutableBytes out) {
    const size_t count = out.size() / sizeof(L);
    const size_t end = first + count;
    Batch<uint32_t> lookback_batch;
    CAIRN_ASSIGN_OR_RETURN(const auto lookbacks, ReadLookbacks(left, in, lookback_batch));
    Batch<L> batch;
    const auto primary = std::span(batch).subspan(first, count);
    if (meta_.mode == Mode::kDict) {
      Batch<uint32_t> indices;
      CAIRN_RETURN_IF_ERROR(indices_.NextBatch(lookbacks, in, first, end, indices));
      CAIRN_RETURN_IF_ERROR(LookUp(std::span(indices).subspan(first, count), primary));
    } else {
      CAIRN_RETURN_IF_ERROR(primary_.NextBatch(lookbacks, in, first, end, batch));
    }
    if (meta_.secondary) {
      Batch<L> secondary;
      CAIRN_RETURN_IF_ERROR(secondary_.NextBatch(lookbacks, in, first, end, secondary));
      kernels_.join(meta_, std::span(secondary).subspan(first, count), primary);
    }
    kernels_.store(kind_, primary, out.data());
    return absl::OkStatus();
  }

  // Passes the next batch over. Numbers that a dictionary does not have are not seen there.
  absl::Status SkipBatch(int64_t left, BitReader& in) {
    Batch<uint32_t> lookback_batch;
    CAIRN_ASSIGN_OR_RETURN(const auto lookbacks, ReadLookbacks(left, in, lookback_batch));
    CAIRN_RETURN_IF_ERROR(meta_.mode == Mode::kDict ? indices_.SkipBatch(lookbacks, in)
                                                    : primary_.SkipBatch(lookbacks, in));
    return meta_.secondary ? secondary_.SkipBatch(lookbacks, in) : absl::OkStatus();
  }

  // Returns the looks back of the next batch, or none if the chunk has none.
  absl::StatusOr<std::span<const uint32_t>> ReadLookbacks(int64_t left, BitReader& in,
                                                          Batch<uint32_t>& batch) {
    if (!meta_.lookbacks) return std::span<const uint32_t>();
    const auto stored =
        static_cast<size_t>(std::clamp<int64_t>(left - meta_.StateCount(), 0, kBatch));
    CAIRN_RETURN_IF_ERROR(lookbacks_.NextBatch({}, in, 0, stored, batch));
    return std::span(batch).first(stored);
  }

  absl::Status LookUp(std::span<const uint32_t> indices, std::span<L> out) {
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
