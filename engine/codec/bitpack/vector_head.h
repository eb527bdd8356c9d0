// Stored vectors: how they begin, and where their parts lie. docs/file-format.md specifies the
// bytes.
#ifndef CAIRN_ENGINE_CODEC_BITPACK_VECTOR_HEAD_H_
#define CAIRN_ENGINE_CODEC_BITPACK_VECTOR_HEAD_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/base/byte_writer.h"
#include "engine/codec/bitpack/decimal.h"
#include "engine/codec/bitpack/vector_kernels.h"
#include "engine/codec/numbers/number.h"

namespace cairn::bitpack {

template <numbers::Latent L>
struct VectorHead {
  Form form = Form::kIntegers;
  Scale scale = {};
  bool has_deltas = false;
  int width = 0;  // bits of a packed integer
  L base = 0;     // what these are added to
  // Deltas: each lane begins with a value, which is stored in `start_bytes` bytes less
  // `start_base`.
  int start_bytes = 0;
  L start_base = 0;
  size_t exceptions = 0;  // numbers that are stored as they are

  // How many rows the numbers of a vector take.
  static constexpr size_t RowsOf(size_t count) { return (count + kLanes - 1) / kLanes; }
  // The bytes of the packed integers.
  static constexpr size_t PackedBytes(size_t rows, int width) {
    const size_t words = (rows * static_cast<size_t>(width) + numbers::kBits<L> - 1) /
                         static_cast<size_t>(numbers::kBits<L>);
    return words * kLanes * sizeof(L);
  }
};

// A stored vector. The parts lie in its bytes.
template <numbers::Latent L>
struct StoredVector {
  VectorHead<L> head;
  const std::byte* starts = nullptr;
  const std::byte* words = nullptr;
  const std::byte* positions = nullptr;  // u16 each, of the exceptions
  const std::byte* values = nullptr;     // of the exceptions
};

// Parses a vector of `count` numbers. Errors: kDataLoss if it is malformed. The positions of
// exceptions are not checked.
template <numbers::Latent L>
absl::Status ReadVector(numbers::NumberKind kind, Bytes bytes, size_t count,
                        StoredVector<L>& vector);

template <numbers::Latent L>
void WriteVectorHead(const VectorHead<L>& head, ByteWriter& out);

}  // namespace cairn::bitpack

#endif  // CAIRN_ENGINE_CODEC_BITPACK_VECTOR_HEAD_H_
