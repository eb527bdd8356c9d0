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

// Returns the size as an int, which LZ4 counts in.
int IntSize(Bytes bytes) { return static_cast<int>(std::min(bytes.size(), size_t{INT_MAX})); }

// Codes short streams. LZ4 clears 16 KiB before each stream, which takes as long as coding half a
// kilobyte. Here streams share one table. Each stream is numbered so far after the one before that
// old entries are out of its reach.
class ShortStreams {
 public:
  static constexpr size_t kMaxSize = 2048;

  int Compress(Bytes src, MutableBytes dst, int acceleration) {
    if (left_ == 0) Clear();
    --left_;
    LZ4_resetStream_fast(&state_);
    return LZ4_compress_fast_continue(&state_, Chars(src), Chars(dst), IntSize(src), IntSize(dst),
                                      acceleration);
  }

 private:
  // LZ4 finds other matches on a table that was never used, so one byte is coded before all
  // streams. LZ4 would clear the table itself at number 2^30. This clears it earlier.
  void Clear() {
    constexpr int kStreams = 8192;
    constexpr size_t kGap = 65536;
    static_assert(kStreams * (kGap + kMaxSize) < size_t{1} << 30);
    const char byte = 0;
    char sink[LZ4_COMPRESSBOUND(1)];
    LZ4_initStream(&state_, sizeof(state_));
    LZ4_compress_fast_continue(&state_, &byte, sink, 1, sizeof(sink), 1);
    left_ = kStreams;
  }

  LZ4_stream_t state_;
  int left_ = 0;  // before the table is cleared
};

// The two variants differ in how streams are coded with and without a dictionary.
class Fast {
 public:
  using State = LZ4_stream_t;

  int Compress(Bytes src, MutableBytes dst, int level) {
    const int acceleration = Acceleration(level);
    // The time that a shared table saves is spent on a closer search. That is faster and smaller at
    // every level except the last, which searches closest already.
    if (src.size() <= ShortStreams::kMaxSize && acceleration > 1) {
      if (short_streams_ == nullptr) short_streams_ = std::make_unique<ShortStreams>();
      return short_streams_->Compress(src, dst, (acceleration + 1) / 2);
    }
    if (state_ == nullptr) state_ = std::make_unique<State>();
    return LZ4_compress_fast_extState(state_.get(), Chars(src), Chars(dst), IntSize(src),
                                      IntSize(dst), acceleration);
  }

  static void Digest(State& state, Bytes dict, int /*level*/) {
    LZ4_initStream(&state, sizeof(state));
    LZ4_loadDict(&state, Chars(dict), IntSize(dict));
  }
  static int CompressMore(State& state, Bytes src, MutableBytes dst, int level) {
    return LZ4_compress_fast_continue(&state, Chars(src), Chars(dst), IntSize(src), IntSize(dst),
                                      Acceleration(level));
  }

 private:
  static int Acceleration(int level) { return 10 - level; }

  std::unique_ptr<ShortStreams> short_streams_;
  std::unique_ptr<State> state_;
};

class HighCompression {
 public:
  using State = LZ4_streamHC_t;

  // A reset leaves 256 KiB of the state uncleared, which a new state would have to clear. It codes
  // the same bytes, because the old entries are too far back to be matches.
  int Compress(Bytes src, MutableBytes dst, int level) {
    if (state_ == nullptr) {
      state_ = std::make_unique<State>();
      LZ4_initStreamHC(state_.get(), sizeof(State));
    }
    LZ4_resetStreamHC_fast(state_.get(), level);
    return CompressMore(*state_, src, dst, level);
  }

  static void Digest(State& state, Bytes dict, int level) {
    LZ4_initStreamHC(&state, sizeof(state));
    LZ4_resetStreamHC_fast(&state, level);
    LZ4_loadDictHC(&state, Chars(dict), IntSize(dict));
  }
  static int CompressMore(State& state, Bytes src, MutableBytes dst, int /*level*/) {
    return LZ4_compress_HC_continue(&state, Chars(src), Chars(dst), IntSize(src), IntSize(dst));
  }

 private:
  std::unique_ptr<State> state_;
};

// Reads the length of a part of a sequence. Its token counts up to 14 bytes in four bits; 15 says
// that more follow.
size_t ReadLength(Bytes src, size_t& at, size_t in_token) {
  constexpr size_t kMoreFollows = 15;
  size_t length = in_token;
  if (in_token != kMoreFollows) return length;
  while (at < src.size()) {
    const auto more = std::to_integer<size_t>(src[at++]);
    length += more;
    if (more != UINT8_MAX) break;
  }
  return length;
}

bool HasTwoZeros(Bytes src) {
  uint8_t found = 0;  // there is no early return, so that compilers look at many bytes at a time
  for (size_t i = 1; i < src.size(); ++i) {
    found |= static_cast<uint8_t>((src[i - 1] | src[i]) == std::byte{0});
  }
  return found != 0;
}

// Returns true if one of the first `wanted` bytes repeats itself, as a damaged stream may say. LZ4
// turns such a byte into a zero if it decodes all of a stream, but leaves whatever is there if it
// decodes a part.
bool RepeatsAtNoDistance(Bytes src, size_t wanted) {
  constexpr size_t kDistanceSize = 2;
  constexpr size_t kLeastMatch = 4;
  // A sequence takes at most as many bytes as it decodes to, and the bytes of its lengths.
  src = src.first(std::min(src.size(), wanted + wanted / UINT8_MAX + 16));
  if (!HasTwoZeros(src)) return false;
  for (size_t at = 0, decoded = 0; at < src.size();) {
    const auto token = std::to_integer<size_t>(src[at++]);
    const size_t literals = ReadLength(src, at, token >> 4);
    decoded += literals;
    if (decoded >= wanted || literals + kDistanceSize > src.size() - at) return false;
    at += literals;
    if ((src[at] | src[at + 1]) == std::byte{0}) return true;
    at += kDistanceSize;
    decoded += kLeastMatch + ReadLength(src, at, token & 15);
    if (decoded >= wanted) return false;
  }
  return false;
}

// Implements what the fast and the high-compression variant share: the stream format, and a
// dictionary that is digested once and then copied before each stream, so that streams stay
// independent of each other.
template <typename Variant>
class Lz4Codec final : public StreamCodec {
 public:
  void UseDictionary(Bytes dict) override {
    // LZ4 looks back at most 64 KiB.
    dict_ = dict.last(std::min(dict.size(), size_t{64} << 10));
    digested_level_ = 0;
  }

  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    if (src.size() > LZ4_MAX_INPUT_SIZE) return 0;
    dst = UsefulPart(src, dst);
    const int level = std::clamp(call.clevel, 1, 9);
    const int size = dict_.empty() ? variant_.Compress(src, dst, level)
                                   : CompressWithDictionary(src, dst, level);
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

  absl::Status DecompressStart(Bytes src, MutableBytes dst, size_t wanted,
                               const PluginCall& call) override {
    // LZ4 copies a run that passes the end byte by byte, which is many times slower than a run
    // within the output. Such a run may be most of a short stream, so more than a sixth of one is
    // decoded faster completely.
    const size_t worth = dst.size() / (dst.size() <= kShort ? 6 : 2);
    if (wanted > worth || !dict_.empty() || src.size() > INT_MAX || wanted > INT_MAX ||
        RepeatsAtNoDistance(src, wanted)) {
      return Decompress(src, dst, call);
    }
    const auto size = static_cast<int>(wanted);
    const int got = LZ4_decompress_safe_partial(Chars(src), Chars(dst), IntSize(src), size, size);
    if (got == size) return absl::OkStatus();
    return DataLoss("LZ4 stream of %d bytes is malformed within its first %d decoded bytes",
                    src.size(), wanted);
  }

 private:
  using State = typename Variant::State;
  static constexpr size_t kShort = 1024;  // decoded bytes

  int CompressWithDictionary(Bytes src, MutableBytes dst, int level) {
    Digest(level);
    if (state_ == nullptr) state_ = std::make_unique<State>();
    *state_ = *digested_;
    return Variant::CompressMore(*state_, src, dst, level);
  }

  void Digest(int level) {
    if (digested_level_ == level) return;
    // LZ4 treats a dictionary differently if src happens to follow it in memory. Here a spare byte
    // follows the dictionary, so src never does.
    dict_copy_.assign(dict_.begin(), dict_.end());
    dict_copy_.push_back(std::byte{0});
    if (digested_ == nullptr) digested_ = std::make_unique<State>();
    Variant::Digest(*digested_, Bytes(dict_copy_).first(dict_.size()), level);
    digested_level_ = level;
  }

  Variant variant_;
  Bytes dict_;
  int digested_level_ = 0;  // 0: dict_ is not digested
  std::vector<std::byte> dict_copy_;
  std::unique_ptr<State> digested_;
  std::unique_ptr<State> state_;
};

}  // namespace

std::unique_ptr<StreamCodec> MakeLz4() { return std::make_unique<Lz4Codec<Fast>>(); }
std::unique_ptr<StreamCodec> MakeLz4Hc() { return std::make_unique<Lz4Codec<HighCompression>>(); }

}  // namespace cairn::codec
