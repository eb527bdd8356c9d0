#include <algorithm>
#include <climits>
#include <memory>
#include <zlib.h>

#include "engine/base/status.h"
#include "engine/codec/crc32.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

namespace {

// Gives src and dst to a stream whose state is started.
void Feed(z_stream& stream, Bytes src, MutableBytes dst) {
  // zlib never writes through next_in, which only lacks the const.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(src.data()));
  stream.avail_in = static_cast<uInt>(src.size());
  stream.next_out = reinterpret_cast<Bytef*>(dst.data());
  stream.avail_out = static_cast<uInt>(dst.size());
}

absl::Status CannotStart(int code) {
  return ResourceExhausted("zlib cannot start a stream: code %d", code);
}

// The states are made at the first use and reset from then on. They keep pointers back to the
// z_streams, so this object never moves.
class Zlib final : public StreamCodec {
 public:
  Zlib() = default;
  Zlib(const Zlib&) = delete;
  Zlib& operator=(const Zlib&) = delete;
  ~Zlib() override {
    deflateEnd(&deflate_);
    inflateEnd(&inflate_);
  }

  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    if (src.size() > INT_MAX) return 0;
    dst = UsefulPart(src, dst);
    const int level = std::clamp(call.clevel, 1, 9);
    int code = level_ == 0 ? deflateInit(&deflate_, level) : deflateReset(&deflate_);
    if (code == Z_OK && level_ != 0 && level != level_) {
      code = deflateParams(&deflate_, level, Z_DEFAULT_STRATEGY);
    }
    if (code != Z_OK) return CannotStart(code);
    level_ = level;
    Feed(deflate_, src, dst);
    if (deflate(&deflate_, Z_FINISH) != Z_STREAM_END) return 0;
    return dst.size() - deflate_.avail_out;
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& /*call*/) override {
    if (src.size() > INT_MAX || dst.size() > INT_MAX) {
      return DataLoss("zlib stream of %d bytes for %d: both must be below 2 GiB", src.size(),
                      dst.size());
    }
    int code = inflates_ ? inflateReset(&inflate_) : inflateInit(&inflate_);
    if (code != Z_OK) return CannotStart(code);
    inflates_ = true;
    Feed(inflate_, src, dst);
    code = inflate(&inflate_, Z_FINISH);
    if (code == Z_STREAM_END && inflate_.avail_in == 0 && inflate_.avail_out == 0) {
      return absl::OkStatus();
    }
    if (code == Z_MEM_ERROR) return ResourceExhausted("no memory to decode a zlib stream");
    const char* const why = inflate_.msg != nullptr   ? inflate_.msg
                            : code == Z_STREAM_END    ? "it ends early"
                            : inflate_.avail_out == 0 ? "it continues"
                                                      : "it is cut short";
    return DataLoss("zlib stream: %s after %d of %d bytes, with %d of %d decoded", why,
                    src.size() - inflate_.avail_in, src.size(), dst.size() - inflate_.avail_out,
                    dst.size());
  }

 private:
  z_stream deflate_ = {};
  int level_ = 0;  // 0: not made yet
  z_stream inflate_ = {};
  bool inflates_ = false;  // true once inflate_ is made
};

}  // namespace

std::unique_ptr<StreamCodec> MakeZlib() { return std::make_unique<Zlib>(); }

uint32_t Crc32(Bytes bytes, uint32_t before) {
  return static_cast<uint32_t>(
      crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace cairn::codec
