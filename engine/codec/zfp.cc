#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <zfp.h>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/names.h"
#include "engine/base/scratch_buffer.h"
#include "engine/base/status.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

namespace {

struct CloseZfp {
  void operator()(zfp_stream* stream) const { zfp_stream_close(stream); }
  void operator()(zfp_field* field) const { zfp_field_free(field); }
  void operator()(bitstream* bits) const { stream_close(bits); }
};

int64_t BlockBytes(const PluginCall& call) {
  int64_t size = call.typesize;
  for (const int32_t extent : call.blockshape) {
    if (extent <= 0 || size > kMaxChunkBytes / extent) return -1;
    size *= extent;
  }
  return size;
}

// Returns the largest error of kZfpAccuracy, which is a power of ten.
double Tolerance(uint8_t meta) { return std::pow(10.0, static_cast<int8_t>(meta)); }

// Holds libzfp's objects for one block. A null pointer in any of them means that there is no
// memory.
struct Coder {
  Coder(Codec mode, const PluginCall& call, void* items)
      : stream(zfp_stream_open(nullptr)), field(zfp_field_alloc()) {
    if (!ok()) return;
    const zfp_type type = call.typesize == sizeof(float) ? zfp_type_float : zfp_type_double;
    const auto ndim = static_cast<unsigned>(call.blockshape.size());
    zfp_field_set_type(field.get(), type);
    zfp_field_set_pointer(field.get(), items);
    const auto extent = [&](unsigned from_last) {
      return static_cast<size_t>(call.blockshape[ndim - 1 - from_last]);
    };
    if (ndim == 1) zfp_field_set_size_1d(field.get(), extent(0));
    if (ndim == 2) zfp_field_set_size_2d(field.get(), extent(0), extent(1));
    if (ndim == 3) zfp_field_set_size_3d(field.get(), extent(0), extent(1), extent(2));
    if (ndim == 4) zfp_field_set_size_4d(field.get(), extent(0), extent(1), extent(2), extent(3));
    if (mode == Codec::kZfpAccuracy) {
      zfp_stream_set_accuracy(stream.get(), Tolerance(call.meta));
    } else if (mode == Codec::kZfpPrecision) {
      // The meta counts bit planes. ZFP needs some more in more dimensions.
      zfp_stream_set_precision(stream.get(),
                               std::min<unsigned>(call.meta + 3 + 2 * ndim, ZFP_MAX_PREC));
    } else {
      // The meta is a percentage of the size. ZFP asks for bits per item.
      const double ratio = call.meta / 100.0;
      zfp_stream_set_rate(stream.get(), ratio * call.typesize * 8, type, ndim, zfp_false);
    }
  }

  bool ok() const { return stream != nullptr && field != nullptr; }
  size_t MaxSize() const { return zfp_stream_maximum_size(stream.get(), field.get()); }
  bool Use(MutableBytes memory) {
    bits.reset(stream_open(memory.data(), memory.size()));
    zfp_stream_set_bit_stream(stream.get(), bits.get());
    zfp_stream_rewind(stream.get());
    return bits != nullptr;
  }

  std::unique_ptr<bitstream, CloseZfp> bits;
  std::unique_ptr<zfp_stream, CloseZfp> stream;
  std::unique_ptr<zfp_field, CloseZfp> field;
};

// Returns the largest magnitude of the items, which is infinite if one of them is infinite or NaN.
template <typename T>
double LargestMagnitude(Bytes items) {
  constexpr FloatBits<T> kMagnitude = std::numeric_limits<FloatBits<T>>::max() >> 1;
  FloatBits<T> largest = 0;  // magnitudes are in the order of their bits, and NaN comes last
  for (size_t i = 0; i < items.size(); i += sizeof(T)) {
    largest = std::max(largest, LoadLe<FloatBits<T>>(&items[i]) & kMagnitude);
  }
  std::array<std::byte, sizeof(T)> bytes;
  StoreLe(bytes.data(), largest);
  const T value = LoadLe<T>(bytes.data());
  return std::isfinite(value) ? double{value} : std::numeric_limits<double>::infinity();
}

template <typename T>
bool DifferByAtMost(double most, Bytes a, Bytes b) {
  for (size_t i = 0; i < a.size(); i += sizeof(T)) {
    const double difference = double{LoadLe<T>(&a[i])} - double{LoadLe<T>(&b[i])};
    if (!(std::abs(difference) <= most)) return false;
  }
  return true;
}

class Zfp final : public StreamCodec {
 public:
  explicit Zfp(Codec mode) : mode_(mode) {}

  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    CAIRN_RETURN_IF_ERROR(CheckCall(call));
    // C-Blosc2 also stores a block as it is if it is not complete.
    if (BlockBytes(call) != static_cast<int64_t>(src.size())) return 0;
    const MutableBytes items = items_.Get(src.size());  // aligned
    CopyBytes(src, items);
    // ZFP scales the items of a cell by the largest of them, and has no code for what is infinite
    // or NaN. All items of its cell would be lost.
    const double largest = call.typesize == sizeof(float) ? LargestMagnitude<float>(items)
                                                          : LargestMagnitude<double>(items);
    if (std::isinf(largest)) return 0;
    Coder coder(mode_, call, items.data());
    if (!coder.ok() || !coder.Use(stream_.Get(coder.MaxSize()))) return NoMemory();
    const size_t size = zfp_compress(coder.stream.get(), coder.field.get());
    const size_t padded = Padded(size);
    if (size == 0 || padded > UsefulPart(src, dst).size()) return 0;
    if (MayBeInaccurate(*coder.stream, largest, call)) {
      const MutableBytes decoded = decoded_.Get(src.size());
      zfp_field_set_pointer(coder.field.get(), decoded.data());
      zfp_stream_rewind(coder.stream.get());
      if (zfp_decompress(coder.stream.get(), coder.field.get()) == 0) return 0;
      const double most = Tolerance(call.meta);
      const bool accurate = call.typesize == sizeof(float)
                                ? DifferByAtMost<float>(most, src, decoded)
                                : DifferByAtMost<double>(most, src, decoded);
      if (!accurate) return 0;
    }
    CopyBytes(stream_.Get(size), dst);
    FillBytes(dst.subspan(size, padded - size), std::byte{0});
    return padded;
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    if (call.blockshape.empty()) {
      return Unimplemented("codec id %d%s outside of an n-dimensional array",
                           static_cast<int>(mode_), ShownName(mode_));
    }
    if (absl::Status status = CheckCall(call); !status.ok()) {
      return WithCode(absl::StatusCode::kDataLoss, status);
    }
    if (BlockBytes(call) != static_cast<int64_t>(dst.size())) {
      return DataLoss("ZFP stream of %d bytes: the array's blocks are not of %d bytes", src.size(),
                      dst.size());
    }
    const MutableBytes items = items_.Get(dst.size());  // aligned
    Coder coder(mode_, call, items.data());
    if (!coder.ok()) return NoMemory();
    // libzfp may read past the end, but never more than the longest stream has, so zeros follow.
    const size_t most = coder.MaxSize() + 2 * sizeof(uint64_t);
    if (src.size() > most) return WrongSize(src, most);
    const MutableBytes stream = stream_.Get(most);
    CopyBytes(src, stream);
    FillBytes(stream.subspan(src.size()), std::byte{0});
    if (!coder.Use(stream)) return NoMemory();
    const size_t size = zfp_decompress(coder.stream.get(), coder.field.get());
    if (src.size() + stream_word_bits / 8 <= size || src.size() > Padded(size)) {
      return WrongSize(src, size);
    }
    CopyBytes(items, dst);
    return absl::OkStatus();
  }

 private:
  static absl::Status CheckCall(const PluginCall& call) {
    if (call.typesize != sizeof(float) && call.typesize != sizeof(double)) {
      return InvalidArgument("ZFP: typesize: expected 4 or 8, got %d", call.typesize);
    }
    if (call.blockshape.empty() || call.blockshape.size() > 4) {
      return InvalidArgument("ZFP: dimensions: expected 1 to 4, got %d", call.blockshape.size());
    }
    return absl::OkStatus();
  }
  // Returns true if a stream that bounds the error may not keep to it, because the largest item of
  // a cell leaves too few of ZFP's 32 or 64 bit planes to the others.
  bool MayBeInaccurate(const zfp_stream& stream, double largest, const PluginCall& call) const {
    if (mode_ != Codec::kZfpAccuracy || largest == 0) return false;
    const int guards = 2 * (static_cast<int>(call.blockshape.size()) + 1);
    return std::ilogb(largest) + 1 - stream.minexp + guards > 8 * call.typesize;
  }
  // Builds of libzfp pad streams to words of different sizes. C-Blosc2's has words of 8 bytes.
  static size_t Padded(size_t size) { return CeilDiv(size, sizeof(uint64_t)) * sizeof(uint64_t); }
  static absl::Status NoMemory() { return ResourceExhausted("no memory for a ZFP coder"); }
  static absl::Status WrongSize(Bytes src, size_t size) {
    return DataLoss("ZFP stream of %d bytes: expected %d", src.size(), size);
  }

  const Codec mode_;
  ScratchBuffer items_;
  ScratchBuffer stream_;
  ScratchBuffer decoded_;
};

}  // namespace

std::unique_ptr<StreamCodec> MakeZfp(Codec mode) { return std::make_unique<Zfp>(mode); }

}  // namespace cairn::codec
