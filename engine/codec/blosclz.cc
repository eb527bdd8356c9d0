#include "engine/codec/blosclz.h"

#include "engine/codec/stream_codec.h"

namespace cairn::codec {

namespace {

class BloscLz final : public StreamCodec {
 public:
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    return encoder_.Encode(src, dst, call.clevel);
  }
  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& /*call*/) override {
    return DecodeBloscLz(src, dst);
  }

 private:
  BloscLzEncoder encoder_;
};

}  // namespace

std::unique_ptr<StreamCodec> MakeBloscLz() { return std::make_unique<BloscLz>(); }

}  // namespace cairn::codec
