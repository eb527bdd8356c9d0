#include <algorithm>
#include <climits>
#include <memory>
#include <zlib.h>

#include "engine/base/status.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

namespace {

// A z_stream and its state, made at the first use and reset from then on. zlib keeps a pointer back
// to the z_stream, so it never moves.
class ZlibStream {
 public:
  explicit ZlibStream(int (*end)(z_stream*)) : end_(end) {}
  ~ZlibStream() {
    if (made_) end_(&stream_);
  }
  ZlibStream(const ZlibStream&) = delete;
  ZlibStream& operator=(const ZlibStream&) = delete;

  // Calls `init` the first time, `reset` later; ready to work on src and dst when the result is OK.
  template <typename Init, typename Reset>
  absl::Status Start(Bytes src, MutableBytes dst, Init init, Reset reset) {
    const int code = made_ ? reset(&stream_) : init(&stream_);
    if (code != Z_OK) return ResourceExhausted("zlib cannot start a stream: code %d", code);
    made_ = true;
    // zlib never writes through next_in; it only lacks the const.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(src.data()));
    stream_.avail_in = static_cast<uInt>(src.size());
    stream_.next_out = reinterpret_cast<Bytef*>(dst.data());
    stream_.avail_out = static_cast<uInt>(dst.size());
    return absl::OkStatus();
  }

  z_stream* operator->() { return &stream_; }
  z_stream* get() { return &stream_; }

 private:
  z_stream stream_ = {};
  int (*end_)(z_stream*);
  bool made_ = false;
};

class Zlib final : public StreamCodec {
 public:
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    if (src.size() > INT_MAX) return 0;
    dst = UsefulPart(src, dst);
    const int level = std::clamp(call.clevel, 1, 9);
    const auto init = [level](z_stream* stream) { return deflateInit(stream, level); };
    const auto reset = [this, level](z_stream* stream) {
      const int code = deflateReset(stream);
      if (code != Z_OK || level == level_) return code;
      return deflateParams(stream, level, Z_DEFAULT_STRATEGY);
    };
    CAIRN_RETURN_IF_ERROR(deflate_.Start(src, dst, init, reset));
    level_ = level;
    if (deflate(deflate_.get(), Z_FINISH) != Z_STREAM_END) return 0;
    return dst.size() - deflate_->avail_out;
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& /*call*/) override {
    if (src.size() > INT_MAX || dst.size() > INT_MAX) {
      return DataLoss("zlib stream of %d bytes for %d: both must be below 2 GiB", src.size(),
                      dst.size());
    }
    const auto init = [](z_stream* stream) { return inflateInit(stream); };
    CAIRN_RETURN_IF_ERROR(inflate_.Start(src, dst, init, inflateReset));
    const int code = inflate(inflate_.get(), Z_FINISH);
    if (code == Z_STREAM_END && inflate_->avail_in == 0 && inflate_->avail_out == 0) {
      return absl::OkStatus();
    }
    if (code == Z_MEM_ERROR) return ResourceExhausted("no memory to decode a zlib stream");
    const char* const why = inflate_->msg != nullptr   ? inflate_->msg
                            : code == Z_STREAM_END     ? "it ends early"
                            : inflate_->avail_out == 0 ? "it goes on"
                                                       : "it is cut short";
    return DataLoss("zlib stream: %s after %d of %d bytes, with %d of %d decoded", why,
                    src.size() - inflate_->avail_in, src.size(), dst.size() - inflate_->avail_out,
                    dst.size());
  }

 private:
  ZlibStream deflate_{deflateEnd};
  ZlibStream inflate_{inflateEnd};
  int level_ = 0;  // of deflate_
};

}  // namespace

std::unique_ptr<StreamCodec> MakeZlib() { return std::make_unique<Zlib>(); }

}  // namespace cairn::codec
