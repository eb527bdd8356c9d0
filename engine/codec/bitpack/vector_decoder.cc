#include "engine/codec/bitpack/vector_decoder.h"

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/codec/bitpack/decimal.h"
#include "engine/codec/bitpack/vector_head.h"

namespace cairn::bitpack {

namespace {

using numbers::kBits;
using numbers::Latent;
using numbers::NumberKind;
using numbers::NumberOf;

// Up to this many numbers are decoded one by one.
constexpr size_t kFew = 4;

// Reads a start of a lane.
template <Latent L>
L StartOf(const StoredVector<L>& vector, size_t lane) {
  const auto size = static_cast<size_t>(vector.head.start_bytes);
  const std::byte* const from = vector.starts + lane * size;
  uint64_t start = 0;
  for (size_t i = 0; i < size; ++i) start |= static_cast<uint64_t>(from[i]) << (8 * i);
  return static_cast<L>(vector.head.start_base + static_cast<L>(start));
}

// Reads one packed integer after the other of a lane.
template <Latent L>
class LaneReader {
 public:
  LaneReader(const StoredVector<L>& vector, size_t lane, size_t row)
      : width_(static_cast<size_t>(vector.head.width)),
        mask_(width_ == 0 ? L{0} : static_cast<L>(static_cast<L>(~L{0}) >> (kBits<L> - width_))),
        words_(vector.words + lane * sizeof(L)),
        position_(row * width_) {}

  L Next() {
    if (width_ == 0) return 0;
    const size_t used = position_ % kBits<L>;
    const std::byte* const at = words_ + position_ / kBits<L> * kLanes * sizeof(L);
    L bits = static_cast<L>(LoadLe<L>(at) >> used);
    if (used + width_ > kBits<L>) {
      const L next = LoadLe<L>(at + kLanes * sizeof(L));
      bits = static_cast<L>(bits | static_cast<L>(next << (kBits<L> - used)));
    }
    position_ += width_;
    return static_cast<L>(bits & mask_);
  }

 private:
  const size_t width_;
  const L mask_;
  const std::byte* const words_;
  size_t position_;  // in bits
};

// Returns what is packed for a number.
template <Latent L>
L PackedOf(const StoredVector<L>& vector, size_t rows, size_t i) {
  const L base = vector.head.base;
  if (!vector.head.has_deltas) {
    return static_cast<L>(base + LaneReader<L>(vector, i % kLanes, i / kLanes).Next());
  }
  L sum = StartOf(vector, i / rows);
  LaneReader<L> deltas(vector, i / rows, 1);
  for (size_t row = 1; row <= i % rows; ++row) sum = static_cast<L>(sum + base + deltas.Next());
  return sum;
}

template <Latent L>
L NumberFor(Form form, Scale scale, L packed) {
  if constexpr (HasDecimals<L>) {
    if (form == Form::kDecimals) {
      const auto factor = FactorOf<L>(scale);
      return scale.multiplied ? BitsOfDecimal<true>(packed, factor)
                              : BitsOfDecimal<false>(packed, factor);
    }
  }
  return form == Form::kFloatBits ? NumberOf(NumberKind::kFloat, packed) : packed;
}

// Puts the exceptions where they are wanted. Errors: kDataLoss if one is not in the vector.
template <Latent L>
absl::Status StoreExceptions(const StoredVector<L>& vector, size_t count, const Target& target) {
  for (size_t i = 0; i < vector.head.exceptions; ++i) {
    const size_t position = LoadLe<uint16_t>(vector.positions + i * sizeof(uint16_t));
    if (position >= count) {
      return DataLoss("bitpack vector: exception %d at %d of %d numbers", i, position, count);
    }
    if (position < target.begin || position >= target.end) continue;
    StoreLe(target.to + (position - target.begin) * target.stride,
            LoadLe<L>(vector.values + i * sizeof(L)));
  }
  return absl::OkStatus();
}

}  // namespace

template <Latent L>
absl::Status DecodeVector(NumberKind kind, Bytes bytes, size_t count, const Target& target) {
  StoredVector<L> vector;
  CAIRN_RETURN_IF_ERROR(ReadVector(kind, bytes, count, vector));
  const VectorHead<L>& head = vector.head;
  const size_t rows = VectorHead<L>::RowsOf(count);
  if (target.end - target.begin <= kFew) {
    for (size_t i = target.begin; i < target.end; ++i) {
      StoreLe(target.to + (i - target.begin) * target.stride,
              NumberFor(head.form, head.scale, PackedOf(vector, rows, i)));
    }
  } else {
    const VectorKernels<L>& kernels = KernelsFor<L>();
    alignas(64) Values<L> values;
    kernels.unpack(vector.words, head.width, rows, head.base, values);
    if (head.has_deltas) {
      for (size_t lane = 0; lane < kLanes; ++lane) values[lane] = StartOf(vector, lane);
      kernels.sum(rows, values);
    }
    kernels.finish(head.form, head.scale, rows, values);
    kernels.store(values, rows, head.has_deltas, target);
  }
  return StoreExceptions(vector, count, target);
}

template absl::Status DecodeVector<uint8_t>(NumberKind, Bytes, size_t, const Target&);
template absl::Status DecodeVector<uint16_t>(NumberKind, Bytes, size_t, const Target&);
template absl::Status DecodeVector<uint32_t>(NumberKind, Bytes, size_t, const Target&);
template absl::Status DecodeVector<uint64_t>(NumberKind, Bytes, size_t, const Target&);

}  // namespace cairn::bitpack
