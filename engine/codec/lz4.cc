#include <algorithm>
#include <climits>
#include <lz4.h>
#include <lz4hc.h>
#include <memory>
#include <vector>

#include "engine/base/status.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

namespace {

const char* Chars(Bytes bytes) { return reinterpret_cast<const char*>(bytes.data()); }
char* Chars(MutableBytes bytes) { return reinterpret_cast<char*>(bytes.data()); }

// LZ4 counts in ints.
int IntSize(Bytes bytes) { return static_cast<int>(std::min(bytes.size(), size_t{INT_MAX})); }

// What the fast and the high-compression variant have in common: the stream format, and a
// dictionary that is digested once and then copied before each stream, so that streams stay
// independent of each other.
template <typename Variant>
class Lz4Codec final : public StreamCodec {
 public:
  void UseDictionary(Bytes dict) override {
    // LZ4 looks no further back than 64 KiB.
    dict_ = dict.last(std::min(dict.size(), size_t{64} << 10));
    digested_level_ = 0;
  }

  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    if (src.size() > LZ4_MAX_INPUT_SIZE) return 0;
    dst = UsefulRoom(src, dst);
    const int level = std::clamp(call.clevel, 1, 9);
    if (state_ == nullptr) state_ = std::make_unique<State>();
    int size;
    if (dict_.empty()) {
      size = Variant::Compress(*state_, src, dst, level);
    } else {
      Digest(level);
      *state_ = *digested_;
      size = Variant::CompressMore(*state_, src, dst, level);
    }
    return static_cast<size_t>(std::max(size, 0));
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& /*call*/) override {
    if (src.size() > INT_MAX || dst.size() > INT_MAX) {
      return DataLoss("LZ4 stream of %d bytes for %d: LZ4 has none so large", src.size(),
                      dst.size());
    }
    const int src_size = IntSize(src);
    const int dst_size = IntSize(dst);
    const int size = dict_.empty()
                         ? LZ4_decompress_safe(Chars(src), Chars(dst), src_size, dst_size)
                         : LZ4_decompress_safe_usingDict(Chars(src), Chars(dst), src_size, dst_size,
                                                         Chars(dict_), IntSize(dict_));
    if (size == dst_size) return absl::OkStatus();
    if (size >= 0) {
      return DataLoss("LZ4 stream of %d bytes: expected %d decoded bytes, got %d", src_size,
                      dst_size, size);
    }
    return DataLoss("LZ4 stream of %d bytes is malformed or longer than the expected %d bytes",
                    src_size, dst_size);
  }

 private:
  using State = typename Variant::State;

  void Digest(int level) {
    if (digested_level_ == level) return;
    // LZ4 treats a dictionary that src happens to follow in memory in another way. Here nothing
    // can follow it: behind it is a spare byte.
    dict_copy_.assign(dict_.begin(), dict_.end());
    dict_copy_.push_back(std::byte{0});
    if (digested_ == nullptr) digested_ = std::make_unique<State>();
    Variant::Digest(*digested_, Bytes(dict_copy_).first(dict_.size()), level);
    digested_level_ = level;
  }

  Bytes dict_;
  int digested_level_ = 0;  // 0: dict_ is not digested
  std::vector<std::byte> dict_copy_;
  std::unique_ptr<State> digested_;
  std::unique_ptr<State> state_;
};

struct Fast {
  using State = LZ4_stream_t;
  static int Acceleration(int level) { return 10 - level; }

  static int Compress(State& state, Bytes src, MutableBytes dst, int level) {
    return LZ4_compress_fast_extState(&state, Chars(src), Chars(dst), IntSize(src), IntSize(dst),
                                      Acceleration(level));
  }
  static void Digest(State& state, Bytes dict, int /*level*/) {
    LZ4_initStream(&state, sizeof(state));
    LZ4_loadDict(&state, Chars(dict), IntSize(dict));
  }
  static int CompressMore(State& state, Bytes src, MutableBytes dst, int level) {
    return LZ4_compress_fast_continue(&state, Chars(src), Chars(dst), IntSize(src), IntSize(dst),
                                      Acceleration(level));
  }
};

struct HighCompression {
  using State = LZ4_streamHC_t;

  static int Compress(State& state, Bytes src, MutableBytes dst, int level) {
    return LZ4_compress_HC_extStateHC(&state, Chars(src), Chars(dst), IntSize(src), IntSize(dst),
                                      level);
  }
  static void Digest(State& state, Bytes dict, int level) {
    LZ4_initStreamHC(&state, sizeof(state));
    LZ4_resetStreamHC_fast(&state, level);
    LZ4_loadDictHC(&state, Chars(dict), IntSize(dict));
  }
  static int CompressMore(State& state, Bytes src, MutableBytes dst, int /*level*/) {
    return LZ4_compress_HC_continue(&state, Chars(src), Chars(dst), IntSize(src), IntSize(dst));
  }
};

}  // namespace

std::unique_ptr<StreamCodec> MakeLz4() { return std::make_unique<Lz4Codec<Fast>>(); }
std::unique_ptr<StreamCodec> MakeLz4Hc() { return std::make_unique<Lz4Codec<HighCompression>>(); }

}  // namespace cairn::codec
