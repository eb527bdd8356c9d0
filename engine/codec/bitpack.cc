#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <span>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/codec/bitpack/column_encoder.h"
#include "engine/codec/bitpack/vector_decoder.h"
#include "engine/codec/column_coder.h"

// A column of numbers has the size of what follows (a varint), the end of each vector, counted from
// the first one (u32), and the vectors.
namespace cairn::codec {

namespace {

using bitpack::kVector;
using numbers::Column;
using numbers::NumberKind;
using numbers::StreamHead;

static_assert(kPage == kVector);

class BitpackCoder final : public ColumnCoder {
  absl::StatusOr<size_t> Encode(std::span<const NumberKind> kinds, Bytes values,
                                const EncodeParams& /*params*/, Column& column,
                                ByteWriter& out) final {
    const int size = column.type.size;
    std::unique_ptr<bitpack::ColumnEncoder>& encoder =
        encoders_[static_cast<size_t>(std::countr_zero(static_cast<unsigned>(size)))];
    if (encoder == nullptr) encoder = bitpack::ColumnEncoder::Make(size);
    column.type.kind = encoder->Encode(kinds, values, out);
    return size_t{0};
  }

  absl::Status Decode(const StreamHead& head, const Column& column, const Place& place,
                      Bytes /*src*/, ByteReader& in) final {
    if (head.page_log != kPageLog) {
      return Unimplemented("bitpack stream: vectors of 2^%d numbers", head.page_log);
    }
    const Bytes stored = in.Take(in.Varint("size of a column"), "column");
    if (!in.ok()) return in.status();
    switch (column.type.size) {
      case 1:
        return DecodeColumn<uint8_t>(column, place, stored);
      case 2:
        return DecodeColumn<uint16_t>(column, place, stored);
      case 4:
        return DecodeColumn<uint32_t>(column, place, stored);
      default:
        return DecodeColumn<uint64_t>(column, place, stored);
    }
  }

  template <numbers::Latent L>
  absl::Status DecodeColumn(const Column& column, const Place& place, Bytes stored) {
    const size_t count = place.records * column.count;
    const size_t begin = place.begin * column.count;
    const size_t end = place.end * column.count;
    if (begin == end) return absl::OkStatus();
    const size_t ends = (count + kVector - 1) / kVector * sizeof(uint32_t);
    if (stored.size() < ends) {
      return DataLoss("bitpack stream: %d numbers in %d bytes", count, stored.size());
    }
    const Bytes vectors = stored.subspan(ends);
    for (size_t first = begin / kVector * kVector; first < end; first += kVector) {
      const std::byte* const at = stored.data() + first / kVector * sizeof(uint32_t);
      const size_t from = first == 0 ? 0 : LoadLe<uint32_t>(at - sizeof(uint32_t));
      const size_t to = LoadLe<uint32_t>(at);
      if (from > to || to > vectors.size()) {
        return DataLoss("bitpack stream: vector from %d to %d of %d bytes", from, to,
                        vectors.size());
      }
      const size_t size = std::min(kVector, count - first);
      if (first + size == count && to != vectors.size()) {
        return DataLoss("bitpack stream: %d bytes after the last vector", vectors.size() - to);
      }
      CAIRN_RETURN_IF_ERROR(DecodeIn<L>(
          column, place, vectors.subspan(from, to - from), first, size,
          {.begin = std::max(begin, first) - first, .end = std::min(end, first + size) - first}));
    }
    return absl::OkStatus();
  }

  // Decodes wanted numbers of the vector that begins with the number `first` of a column.
  template <numbers::Latent L>
  absl::Status DecodeIn(const Column& column, const Place& place, Bytes vector, size_t first,
                        size_t count, bitpack::Target wanted) {
    if (column.count == 1 || column.width() == place.stride) {
      wanted.stride = column.count == 1 ? place.stride : sizeof(L);
      wanted.to = place.first + (first + wanted.begin - place.begin * column.count) * wanted.stride;
      return bitpack::DecodeVector<L>(column.type.kind, vector, count, wanted);
    }
    wanted.stride = sizeof(L);
    wanted.to = Values(count * sizeof(L)).data();
    CAIRN_RETURN_IF_ERROR(bitpack::DecodeVector<L>(column.type.kind, vector, count, wanted));
    ToRecords(column, first + wanted.begin, first + wanted.end, wanted.to, place);
    return absl::OkStatus();
  }

  // By the logarithm of the numbers' size:
  std::array<std::unique_ptr<bitpack::ColumnEncoder>, 4> encoders_;
};

}  // namespace

std::unique_ptr<ColumnCoder> MakeBitpackCoder() { return std::make_unique<BitpackCoder>(); }

}  // namespace cairn::codec
