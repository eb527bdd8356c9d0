#include "engine/codec/bitpack/vector_head.h"

#include "engine/base/byte_reader.h"
#include "engine/base/status.h"

namespace cairn::bitpack {

namespace {

using numbers::kBits;
using numbers::Latent;
using numbers::NumberKind;

constexpr uint8_t kFormMask = 3;
constexpr uint8_t kDeltas = 4;
constexpr uint8_t kPowerMask = 31;
constexpr uint8_t kMultiplied = 32;

// Returns true if numbers of a kind may have a form, and a scale of that power.
template <Latent L>
bool Fits(NumberKind kind, Form form, int power) {
  if (kind != NumberKind::kFloat) return form == Form::kIntegers && power == 0;
  if constexpr (HasDecimals<L>) {
    if (form == Form::kDecimals) return power <= kMaxPower<L>;
  }
  return form == Form::kFloatBits && power == 0;
}

}  // namespace

template <Latent L>
absl::Status ReadVector(NumberKind kind, Bytes bytes, size_t count, StoredVector<L>& vector) {
  ByteReader in(bytes, "bitpack vector");
  VectorHead<L>& head = vector.head;
  const uint8_t flags = in.U8("form");
  const uint8_t scale = in.U8("scale");
  head.width = in.U8("width");
  head.start_bytes = in.U8("bytes of a start");
  head.exceptions = in.Le<uint16_t>("exceptions");
  head.base = in.Le<L>("base");
  head.form = static_cast<Form>(flags & kFormMask);
  head.has_deltas = (flags & kDeltas) != 0;
  head.scale = {.power = scale & kPowerMask, .multiplied = (scale & kMultiplied) != 0};
  if ((flags & ~(kFormMask | kDeltas)) != 0 || (scale & ~(kPowerMask | kMultiplied)) != 0 ||
      !Fits<L>(kind, head.form, scale & ~kMultiplied)) {
    in.Fail("form", "%d with scale %d", flags, scale);
  }
  in.AtMost(head.width, kBits<L>, "width");
  in.AtMost(head.start_bytes, head.has_deltas ? sizeof(L) : 0, "bytes of a start");
  in.AtMost(static_cast<int64_t>(head.exceptions), static_cast<int64_t>(count), "exceptions");
  if (head.has_deltas) {
    head.start_base = in.Le<L>("base of the starts");
    vector.starts = in.Take(kLanes * static_cast<size_t>(head.start_bytes), "starts").data();
  }
  const size_t rows = VectorHead<L>::RowsOf(count);
  vector.words = in.Take(VectorHead<L>::PackedBytes(rows, head.width), "packed integers").data();
  vector.positions = in.Take(head.exceptions * sizeof(uint16_t), "positions").data();
  vector.values = in.Take(head.exceptions * sizeof(L), "exceptions").data();
  if (in.ok() && in.remaining() != 0) in.Fail("end", "%d bytes are left", in.remaining());
  return in.status();
}

template <Latent L>
void WriteVectorHead(const VectorHead<L>& head, ByteWriter& out) {
  out.U8(static_cast<uint8_t>(static_cast<int>(head.form) | (head.has_deltas ? kDeltas : 0)));
  out.U8(static_cast<uint8_t>(head.scale.power | (head.scale.multiplied ? kMultiplied : 0)));
  out.U8(static_cast<uint8_t>(head.width));
  out.U8(static_cast<uint8_t>(head.start_bytes));
  out.Le(static_cast<uint16_t>(head.exceptions), head.base);
  if (head.has_deltas) out.Le(head.start_base);
}

template absl::Status ReadVector(NumberKind, Bytes, size_t, StoredVector<uint8_t>&);
template absl::Status ReadVector(NumberKind, Bytes, size_t, StoredVector<uint16_t>&);
template absl::Status ReadVector(NumberKind, Bytes, size_t, StoredVector<uint32_t>&);
template absl::Status ReadVector(NumberKind, Bytes, size_t, StoredVector<uint64_t>&);
template void WriteVectorHead(const VectorHead<uint8_t>&, ByteWriter&);
template void WriteVectorHead(const VectorHead<uint16_t>&, ByteWriter&);
template void WriteVectorHead(const VectorHead<uint32_t>&, ByteWriter&);
template void WriteVectorHead(const VectorHead<uint64_t>&, ByteWriter&);

}  // namespace cairn::bitpack
