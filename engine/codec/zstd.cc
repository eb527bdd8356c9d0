#include <algorithm>
#include <climits>
#include <memory>
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "engine/base/status.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

namespace {

struct Free {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CDict* dict) const { ZSTD_freeCDict(dict); }
  void operator()(ZSTD_DDict* dict) const { ZSTD_freeDDict(dict); }
};

// Spreads Blosc's nine levels over zstd's twenty-two.
int ZstdLevel(int clevel) { return clevel < 9 ? std::max(clevel, 1) * 2 - 1 : ZSTD_maxCLevel(); }

// The level of streams with a dictionary, whatever clevel says.
constexpr int kDictionaryLevel = 1;

class Zstd final : public StreamCodec {
 public:
  void UseDictionary(Bytes dict) override {
    dict_ = dict;
    encoder_dict_.reset();
    decoder_dict_.reset();
  }

  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    if (src.size() > INT_MAX) return 0;
    dst = UsefulPart(src, dst);
    if (encoder_ == nullptr) encoder_.reset(ZSTD_createCCtx());
    if (!dict_.empty() && encoder_dict_ == nullptr) {
      encoder_dict_.reset(ZSTD_createCDict(dict_.data(), dict_.size(), kDictionaryLevel));
    }
    if (encoder_ == nullptr || (!dict_.empty() && encoder_dict_ == nullptr)) {
      return ResourceExhausted("no memory for a zstd encoder");
    }
    const size_t size = dict_.empty()
                            ? ZSTD_compressCCtx(encoder_.get(), dst.data(), dst.size(), src.data(),
                                                src.size(), ZstdLevel(call.clevel))
                            : ZSTD_compress_usingCDict(encoder_.get(), dst.data(), dst.size(),
                                                       src.data(), src.size(), encoder_dict_.get());
    if (!ZSTD_isError(size)) return size;
    if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) return 0;
    return ResourceExhausted("zstd cannot code %d bytes: %s", src.size(), ZSTD_getErrorName(size));
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& /*call*/) override {
    if (decoder_ == nullptr) decoder_.reset(ZSTD_createDCtx());
    if (!dict_.empty() && decoder_dict_ == nullptr) {
      decoder_dict_.reset(ZSTD_createDDict(dict_.data(), dict_.size()));
      // Only bytes that begin like a trained dictionary are parsed. All others are plain content.
      if (decoder_dict_ == nullptr) return DataLoss("zstd dictionary is malformed");
    }
    if (decoder_ == nullptr) return ResourceExhausted("no memory for a zstd decoder");
    const size_t size =
        dict_.empty()
            ? ZSTD_decompressDCtx(decoder_.get(), dst.data(), dst.size(), src.data(), src.size())
            : ZSTD_decompress_usingDDict(decoder_.get(), dst.data(), dst.size(), src.data(),
                                         src.size(), decoder_dict_.get());
    if (ZSTD_isError(size)) {
      return DataLoss("zstd stream of %d bytes for %d: %s", src.size(), dst.size(),
                      ZSTD_getErrorName(size));
    }
    if (size == dst.size()) return absl::OkStatus();
    return DataLoss("zstd stream of %d bytes: expected %d decoded bytes, got %d", src.size(),
                    dst.size(), size);
  }

 private:
  Bytes dict_;
  std::unique_ptr<ZSTD_CCtx, Free> encoder_;
  std::unique_ptr<ZSTD_DCtx, Free> decoder_;
  std::unique_ptr<ZSTD_CDict, Free> encoder_dict_;  // digested dict_, or null
  std::unique_ptr<ZSTD_DDict, Free> decoder_dict_;  // digested dict_, or null
};

bool AllInside(std::span<const size_t> sizes, size_t limit) {
  for (const size_t size : sizes) {
    if (size > limit) return false;
    limit -= size;
  }
  return true;
}

}  // namespace

std::unique_ptr<StreamCodec> MakeZstd() { return std::make_unique<Zstd>(); }

std::vector<std::byte> TrainZstdDictionary(Bytes samples, std::span<const size_t> sample_sizes,
                                           size_t capacity) {
  if (sample_sizes.size() > UINT_MAX || !AllInside(sample_sizes, samples.size())) return {};
  std::vector<std::byte> dict(capacity);
  const size_t size =
      ZDICT_trainFromBuffer(dict.data(), capacity, samples.data(), sample_sizes.data(),
                            static_cast<unsigned>(sample_sizes.size()));
  dict.resize(ZDICT_isError(size) ? 0 : size);
  return dict;
}

}  // namespace cairn::codec
