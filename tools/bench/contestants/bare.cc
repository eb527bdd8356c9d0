#include "tools/bench/contestants/bare.h"

#include <lz4.h>
#include <lz4hc.h>
#include <zlib.h>
#include <zstd.h>

#include "tools/status.h"
#ifdef CAIRN_HAVE_BLOSC2
#include <blosc2.h>
#endif
#ifdef CAIRN_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace cairn::bench {

// Codes zlib streams with one library at one of zlib's levels.
class Deflate {
 public:
  virtual ~Deflate() = default;
  virtual bool Decode(Bytes src, MutableBytes dst) = 0;
  virtual size_t Encode(Bytes src, MutableBytes dst) = 0;  // 0: it does not fit
};

namespace {

int32_t LoadInt32(Bytes bytes, size_t at) {
  int32_t value = 0;
  if (at + sizeof(value) <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

const char* Chars(Bytes bytes) { return reinterpret_cast<const char*>(bytes.data()); }
char* Chars(MutableBytes bytes) { return reinterpret_cast<char*>(bytes.data()); }
int Int(size_t size) { return static_cast<int>(size); }

absl::StatusOr<Stream> NextStream(Bytes chunk, size_t& at, size_t nbytes) {
  const int32_t size = LoadInt32(chunk, at);
  at += 4;
  if (size == 0) return Stream{.stored = {}, .nbytes = nbytes};
  if (size < 0) {
    ++at;
    return Stream{.stored = {}, .run = static_cast<std::byte>(-size), .nbytes = nbytes};
  }
  if (at + static_cast<size_t>(size) > chunk.size()) {
    return absl::DataLossError("a stream ends behind its chunk");
  }
  const Bytes stored = chunk.subspan(at, static_cast<size_t>(size));
  at += static_cast<size_t>(size);
  return Stream{.stored = stored, .nbytes = nbytes};
}

class Zlib final : public Deflate {
 public:
  explicit Zlib(int clevel) : clevel_(clevel) {}
  bool Decode(Bytes src, MutableBytes dst) override {
    uLongf size = dst.size();
    return uncompress(reinterpret_cast<Bytef*>(dst.data()), &size,
                      reinterpret_cast<const Bytef*>(src.data()), src.size()) == Z_OK &&
           size == dst.size();
  }
  size_t Encode(Bytes src, MutableBytes dst) override {
    uLongf size = dst.size();
    const int result = compress2(reinterpret_cast<Bytef*>(dst.data()), &size,
                                 reinterpret_cast<const Bytef*>(src.data()), src.size(), clevel_);
    return result == Z_OK ? size : 0;
  }

 private:
  const int clevel_;
};

#ifdef CAIRN_HAVE_LIBDEFLATE
class Libdeflate final : public Deflate {
 public:
  explicit Libdeflate(int clevel)
      : encoder_(libdeflate_alloc_compressor(kLevels[static_cast<size_t>(clevel - 1)])) {}
  ~Libdeflate() override {
    libdeflate_free_compressor(encoder_);
    libdeflate_free_decompressor(decoder_);
  }
  Libdeflate(const Libdeflate&) = delete;
  Libdeflate& operator=(const Libdeflate&) = delete;

  bool Decode(Bytes src, MutableBytes dst) override {
    return libdeflate_zlib_decompress(decoder_, src.data(), src.size(), dst.data(), dst.size(),
                                      nullptr) == LIBDEFLATE_SUCCESS;
  }
  size_t Encode(Bytes src, MutableBytes dst) override {
    return libdeflate_zlib_compress(encoder_, src.data(), src.size(), dst.data(), dst.size());
  }

 private:
  // Cairn takes these for zlib's levels 1 to 9, so both write equal streams.
  static constexpr std::array<int, 9> kLevels = {2, 2, 5, 5, 6, 7, 8, 8, 10};
  libdeflate_compressor* const encoder_;
  libdeflate_decompressor* const decoder_ = libdeflate_alloc_decompressor();
};
#endif

std::unique_ptr<Deflate> MakeDeflate(ZlibLibrary library, int clevel) {
#ifdef CAIRN_HAVE_LIBDEFLATE
  if (library == ZlibLibrary::kLibdeflate) return std::make_unique<Libdeflate>(clevel);
#endif
  return library == ZlibLibrary::kZlib ? std::make_unique<Zlib>(clevel) : nullptr;
}

}  // namespace

bool HaveLibdeflate() {
#ifdef CAIRN_HAVE_LIBDEFLATE
  return true;
#else
  return false;
#endif
}

bool HaveKernels() {
#ifdef CAIRN_HAVE_BLOSC2
  return true;
#else
  return false;
#endif
}

absl::StatusOr<std::vector<StoredBlock>> TakeApart(Bytes chunk) {
  ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(chunk));
  if (!info.extended || info.memcpyed || info.vlblocks || info.special != SpecialValue::kNone) {
    return absl::UnimplementedError("only chunks of compressed blocks are taken apart");
  }
  std::vector<StoredBlock> blocks;
  for (int32_t i = 0; i < info.nblocks; ++i) {
    StoredBlock block;
    block.nbytes = static_cast<size_t>(std::min(info.blocksize, info.nbytes - i * info.blocksize));
    const bool whole = block.nbytes == static_cast<size_t>(info.blocksize);
    const size_t nstreams = info.split && whole ? static_cast<size_t>(info.typesize) : 1;
    auto at = static_cast<size_t>(LoadInt32(chunk, 32 + 4 * static_cast<size_t>(i)));
    for (size_t k = 0; k < nstreams; ++k) {
      ASSIGN_OR_RETURN(Stream stream, NextStream(chunk, at, block.nbytes / nstreams));
      block.streams.push_back(stream);
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

struct BareCodec::Impl {
  CompressionOptions options;
  Filter filter = Filter::kNone;
  ZSTD_CCtx* zstd_coder = ZSTD_createCCtx();
  ZSTD_DCtx* zstd_decoder = ZSTD_createDCtx();
  std::unique_ptr<Deflate> deflate;
  std::vector<std::byte> filtered;
  LZ4_stream_t lz4 = {};
  LZ4_streamHC_t lz4hc = {};

  ~Impl() {
    ZSTD_freeCCtx(zstd_coder);
    ZSTD_freeDCtx(zstd_decoder);
  }
  bool DecodeStream(Bytes src, MutableBytes dst);
  size_t EncodeStream(Bytes src, MutableBytes dst);
  void Forward(Bytes src, MutableBytes dst) const;
  void Backward(Bytes src, MutableBytes dst) const;
};

bool BareCodec::Impl::DecodeStream(Bytes src, MutableBytes dst) {
  switch (options.codec) {
    case Codec::kLz4:
    case Codec::kLz4Hc:
      return LZ4_decompress_safe(Chars(src), Chars(dst), Int(src.size()), Int(dst.size())) ==
             Int(dst.size());
    case Codec::kZstd:
      return ZSTD_decompressDCtx(zstd_decoder, dst.data(), dst.size(), src.data(), src.size()) ==
             dst.size();
    default:
      return deflate->Decode(src, dst);
  }
}

// Returns 0 if the stream is not worth it. This uses the libraries' one-call forms, but with a
// state that is kept.
size_t BareCodec::Impl::EncodeStream(Bytes src, MutableBytes dst) {
  switch (options.codec) {
    case Codec::kLz4:
      return static_cast<size_t>(LZ4_compress_fast_extState(
          &lz4, Chars(src), Chars(dst), Int(src.size()), Int(dst.size()), 10 - options.clevel));
    case Codec::kLz4Hc:
      return static_cast<size_t>(LZ4_compress_HC_extStateHC(
          &lz4hc, Chars(src), Chars(dst), Int(src.size()), Int(dst.size()), options.clevel));
    case Codec::kZstd: {
      const int level = options.clevel < 9 ? 2 * options.clevel - 1 : ZSTD_maxCLevel();
      const size_t size =
          ZSTD_compressCCtx(zstd_coder, dst.data(), dst.size(), src.data(), src.size(), level);
      return ZSTD_isError(size) ? 0 : size;
    }
    default:
      return deflate->Encode(src, dst);
  }
}

void BareCodec::Impl::Forward(Bytes src, MutableBytes dst) const {
#ifdef CAIRN_HAVE_BLOSC2
  const auto apply = filter == Filter::kShuffle ? blosc2_shuffle : blosc2_bitshuffle;
  apply(options.typesize, Int(src.size()), src.data(), dst.data());
#else
  std::memcpy(dst.data(), src.data(), src.size());
#endif
}

void BareCodec::Impl::Backward(Bytes src, MutableBytes dst) const {
#ifdef CAIRN_HAVE_BLOSC2
  const auto undo = filter == Filter::kShuffle ? blosc2_unshuffle : blosc2_bitunshuffle;
  undo(options.typesize, Int(src.size()), src.data(), dst.data());
#else
  std::memcpy(dst.data(), src.data(), src.size());
#endif
}

BareCodec::BareCodec(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BareCodec::BareCodec(BareCodec&&) noexcept = default;
BareCodec::~BareCodec() = default;

absl::StatusOr<BareCodec> BareCodec::Make(const CompressionOptions& options, ZlibLibrary zlib) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (options.filters.size() > 1 || options.codec == Codec::kBloscLz) {
    return absl::UnimplementedError("the bare codec knows one filter at most, and no BloscLZ");
  }
  if (options.codec == Codec::kZlib) {
    impl->deflate = MakeDeflate(zlib, options.clevel);
    if (impl->deflate == nullptr) {
      return absl::UnimplementedError("this was built without libdeflate");
    }
  }
  if (!options.filters.empty()) impl->filter = options.filters.front().filter;
  if (impl->filter != Filter::kNone && !HaveKernels()) {
    return absl::UnimplementedError("the limit needs the filter kernels of C-Blosc2");
  }
  return BareCodec(std::move(impl));
}

absl::Status BareCodec::Decode(std::span<const StoredBlock> blocks, MutableBytes dst) {
  for (const StoredBlock& block : blocks) {
    const MutableBytes plain = dst.first(block.nbytes);
    dst = dst.subspan(block.nbytes);
    const bool filtered = impl_->filter != Filter::kNone;
    if (impl_->filtered.size() < block.nbytes) impl_->filtered.resize(block.nbytes);
    MutableBytes out = filtered ? MutableBytes(impl_->filtered).first(block.nbytes) : plain;
    const Bytes whole = out;
    for (const Stream& stream : block.streams) {
      const MutableBytes to = out.first(stream.nbytes);
      out = out.subspan(stream.nbytes);
      if (stream.stored.empty()) {
        std::memset(to.data(), std::to_integer<int>(stream.run), to.size());
      } else if (stream.stored.size() == to.size()) {
        std::memcpy(to.data(), stream.stored.data(), to.size());
      } else if (!impl_->DecodeStream(stream.stored, to)) {
        return absl::DataLossError("the bare codec cannot decode a stream");
      }
    }
    if (filtered) impl_->Backward(whole, plain);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> BareCodec::Encode(Bytes raw, const ChunkInfo& info, MutableBytes dst) {
  const auto blocksize = static_cast<size_t>(info.blocksize);
  if (impl_->filtered.size() < blocksize) impl_->filtered.resize(blocksize);
  size_t done = 0;
  while (!raw.empty()) {
    Bytes block = raw.first(std::min(raw.size(), blocksize));
    raw = raw.subspan(block.size());
    if (impl_->filter != Filter::kNone) {
      impl_->Forward(block, impl_->filtered);
      block = Bytes(impl_->filtered).first(block.size());
    }
    const bool splits = info.split && block.size() == blocksize;
    const size_t nstreams = splits ? static_cast<size_t>(info.typesize) : 1;
    const size_t size = block.size() / nstreams;
    for (size_t k = 0; k < nstreams; ++k) {
      const Bytes stream = block.subspan(k * size, size);
      if (dst.size() - done < size) return absl::ResourceExhaustedError("no room for a stream");
      const size_t stored = impl_->EncodeStream(stream, dst.subspan(done, size));
      if (stored == 0) std::memcpy(dst.data() + done, stream.data(), size);
      done += stored == 0 ? size : stored;
    }
  }
  return done;
}

}  // namespace cairn::bench
