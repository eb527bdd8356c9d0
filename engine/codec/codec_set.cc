#include "engine/codec/codec_set.h"

#include "engine/base/names.h"
#include "engine/base/status.h"

namespace cairn::codec {

namespace {

class PluginCodec final : public StreamCodec {
 public:
  explicit PluginCodec(const CodecPlugin* plugin) : plugin_(plugin) {}
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    dst = UsefulPart(src, dst);
    CAIRN_ASSIGN_OR_RETURN(const size_t size, plugin_->Compress(src, dst, call));
    return size <= dst.size() ? size : 0;
  }
  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    return plugin_->Decompress(src, dst, call);
  }

 private:
  const CodecPlugin* plugin_;
};

std::unique_ptr<StreamCodec> Make(Codec id) {
  switch (id) {
    case Codec::kBloscLz:
      return MakeBloscLz();
    case Codec::kLz4:
      return MakeLz4();
    case Codec::kLz4Hc:
      return MakeLz4Hc();
    case Codec::kZlib:
      return MakeZlib();
    case Codec::kZstd:
      return MakeZstd();
    case Codec::kNdlz:
      return MakeNdlz();
    case Codec::kZfpAccuracy:
    case Codec::kZfpPrecision:
    case Codec::kZfpRate:
      return MakeZfp(id);
    case Codec::kPco:
      return MakePco();
    case Codec::kBitpack:
      return MakeBitpack();
    case Codec::kAuto:
      return MakeAuto();
  }
  return nullptr;
}

// Returns the place of a codec of Cairn's own in a set, or a place after all of these.
size_t SlotOf(Codec id) {
  constexpr size_t kNumbers = static_cast<size_t>(Codec::kZfpRate) + 1;
  if (!CodesNumbers(id)) {
    return static_cast<size_t>(id) < kNumbers ? static_cast<size_t>(id) : SIZE_MAX;
  }
  return kNumbers + static_cast<size_t>(id) - static_cast<size_t>(Codec::kPco);
}

}  // namespace

absl::StatusOr<StreamCodec*> CodecSet::Get(Codec id, const Registry* registry) {
  const size_t slot = SlotOf(id);
  if (slot < own_.size()) {
    if (own_[slot] == nullptr) own_[slot] = Make(id);
    if (own_[slot] != nullptr) return own_[slot].get();
  } else if (registry != nullptr) {
    if (const CodecPlugin* plugin = registry->codec(static_cast<uint8_t>(id)); plugin != nullptr) {
      if (wrapped_ != plugin) plugin_ = std::make_unique<PluginCodec>(plugin);
      wrapped_ = plugin;
      return plugin_.get();
    }
  }
  return Unimplemented("codec id %d%s is not in this build", static_cast<int>(id), ShownName(id));
}

}  // namespace cairn::codec
