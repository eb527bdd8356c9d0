#include "engine/codec/column_codec.h"

#include <algorithm>
#include <bit>

#include "engine/base/bytes.h"
#include "engine/base/status.h"

namespace cairn::codec {

namespace {

using numbers::Column;
using numbers::NumberKind;

template <size_t kWidth>
void CopyPiecesOf(size_t count, const std::byte* from, size_t from_stride, std::byte* to,
                  size_t to_stride) {
  for (size_t i = 0; i < count; ++i) {
    std::copy_n(from + i * from_stride, kWidth, to + i * to_stride);
  }
}

void CopyPieces(size_t width, size_t count, const std::byte* from, size_t from_stride,
                std::byte* to, size_t to_stride) {
  if (width == from_stride && width == to_stride) {
    std::copy_n(from, width * count, to);
  } else if (width == 1) {
    CopyPiecesOf<1>(count, from, from_stride, to, to_stride);
  } else if (width == 2) {
    CopyPiecesOf<2>(count, from, from_stride, to, to_stride);
  } else if (width == 4) {
    CopyPiecesOf<4>(count, from, from_stride, to, to_stride);
  } else if (width == 8) {
    CopyPiecesOf<8>(count, from, from_stride, to, to_stride);
  } else {
    for (size_t i = 0; i < count; ++i) {
      std::copy_n(from + i * from_stride, width, to + i * to_stride);
    }
  }
}

// Returns what the numbers may be. Where nobody says so, a sample of them tells.
std::vector<NumberKind> KindsOf(uint8_t meta, int size) {
  const bool may_be_float = size > 1;  // no float has one byte
  if (meta >= 1 && meta <= (may_be_float ? 3 : 2)) return {static_cast<NumberKind>(meta - 1)};
  if (size < 4) return {NumberKind::kInt};
  return {NumberKind::kInt, NumberKind::kFloat};
}

}  // namespace

void ColumnCodec::UseColumns(std::span<const ItemColumn> columns) {
  columns_.clear();
  for (const ItemColumn& column : columns) {
    const bool is_bytes = column.kind == 0;
    columns_.push_back(
        {.is_bytes = is_bytes,
         .type = {.kind = is_bytes ? NumberKind::kUint : static_cast<NumberKind>(column.kind - 1),
                  .size = column.size},
         .count = static_cast<size_t>(column.count)});
  }
}

absl::StatusOr<size_t> ColumnCodec::Compress(Bytes src, MutableBytes dst, const PluginCall& call) {
  dst = UsefulPart(src, dst);
  std::vector<Column> columns = columns_;
  std::vector<NumberKind> kinds;
  if (columns.empty()) {
    const auto size = static_cast<int>(call.typesize);
    if (!std::has_single_bit(static_cast<unsigned>(size)) || size > 8) return 0;
    columns = {{.type = {.size = size}}};
    kinds = KindsOf(call.meta, size);
  }
  size_t stride = 0;
  for (const Column& column : columns) stride += column.width();
  const size_t records = src.size() / stride;
  ByteWriter body;
  const std::byte* first = src.data();
  for (Column& column : columns) {
    const Bytes values = Gather(first, column.width(), stride, records);
    first += column.width();
    if (column.is_bytes) {
      CAIRN_RETURN_IF_ERROR(EncodeBytes(values, call.clevel, body));
    } else {
      const std::span<const NumberKind> one(&column.type.kind, 1);
      column.type.kind =
          EncodeNumbers(column.type.size, kinds.empty() ? one : kinds, values, call.clevel, body);
    }
    if (body.size() > dst.size()) return 0;
  }
  body.Append(src.subspan(records * stride));
  ByteWriter head;
  WriteStreamHead(format_, src.size(), kPageLog, columns, head);
  const size_t size = head.size() + body.size();
  if (size > dst.size()) return 0;
  CopyBytes(head.written(), dst);
  CopyBytes(body.written(), dst.subspan(head.size()));
  return size;
}

absl::Status ColumnCodec::Decompress(Bytes src, MutableBytes dst, const PluginCall& call) {
  return DecompressPart(src, dst, {.end = dst.size()}, call);
}

absl::Status ColumnCodec::DecompressStart(Bytes src, MutableBytes dst, size_t wanted,
                                          const PluginCall& call) {
  return DecompressPart(src, dst, {.end = wanted}, call);
}

absl::Status ColumnCodec::DecompressPart(Bytes src, MutableBytes dst, const StreamPart& part,
                                         const PluginCall& /*call*/) {
  ByteReader in(src, format_.stream);
  CAIRN_RETURN_IF_ERROR(ReadStreamHead(format_, in, head_));
  if (head_.size != dst.size()) {
    return DataLoss("%s: expected %d decoded bytes, got %d", format_.stream, dst.size(),
                    head_.size);
  }
  const size_t stride = head_.stride;
  Place place = {.stride = stride, .records = dst.size() / stride};
  place.begin = std::min(part.begin / stride, place.records);
  place.end = std::min((part.end + stride - 1) / stride, place.records);
  size_t offset = 0;
  for (const Column& column : head_.columns) {
    Place wanted = place;
    wanted.first = dst.data() + offset;
    if (!part.Wants(stride, offset, column.width())) wanted.end = wanted.begin;
    CAIRN_RETURN_IF_ERROR(column.is_bytes ? DecodeBytes(column, wanted, in)
                                          : DecodeNumbers(head_, column, wanted, src, in));
    offset += column.width();
  }
  const MutableBytes rest = dst.subspan(place.records * stride);
  const Bytes stored = in.Take(rest.size(), "rest");
  if (!in.ok()) return in.status();
  CopyBytes(stored, rest);
  if (in.remaining() != 0) {
    return DataLoss("%s: %d bytes are left", format_.stream, in.remaining());
  }
  return absl::OkStatus();
}

Bytes ColumnCodec::Gather(const std::byte* first, size_t width, size_t stride, size_t records) {
  if (width == stride) return {first, records * width};
  const MutableBytes values = Values(records * width);
  CopyPieces(width, records, first, stride, values.data(), width);
  return values;
}

absl::Status ColumnCodec::EncodeBytes(Bytes bytes, int clevel, ByteWriter& out) {
  coded_.resize(bytes.size());
  size_t size = 0;
  if (!bytes.empty()) {
    CAIRN_ASSIGN_OR_RETURN(size, BytesCodec().Compress(bytes, coded_, {.clevel = clevel}));
  }
  // Bytes that do not get smaller are stored as they are.
  const Bytes stored = size == 0 ? bytes : Bytes(coded_).first(size);
  out.Varint(stored.size());
  out.Append(stored);
  return absl::OkStatus();
}

void ColumnCodec::ToRecords(const Column& column, size_t begin, size_t end, const std::byte* from,
                            const Place& place) {
  const auto width = static_cast<size_t>(column.type.size);
  // A record may begin in one page and end in the next.
  for (size_t at = begin; at < end;) {
    const size_t in_record = at % column.count;
    const size_t record = at / column.count;
    std::byte* const to = place.first + record * place.stride + in_record * width;
    const size_t whole = in_record == 0 ? (end - at) / column.count : 0;
    if (whole > 0) {
      CopyPieces(column.width(), whole, from, column.width(), to, place.stride);
      from += whole * column.width();
      at += whole * column.count;
    } else {
      const size_t some = std::min(column.count - in_record, end - at);
      std::copy_n(from, some * width, to);
      from += some * width;
      at += some;
    }
  }
}

absl::Status ColumnCodec::DecodeBytes(const Column& column, const Place& place, ByteReader& in) {
  const Bytes stored = in.Take(in.Varint("size of a column"), "column");
  if (!in.ok()) return in.status();
  const size_t width = column.width();
  const size_t size = place.records * width;
  if (stored.size() > size) {
    return DataLoss("%s: %d bytes as %d", format_.stream, size, stored.size());
  }
  if (place.begin == place.end) return absl::OkStatus();
  Bytes values = stored;
  if (stored.size() < size) {
    const MutableBytes decoded = Values(size);
    CAIRN_RETURN_IF_ERROR(
        BytesCodec().DecompressStart(stored, decoded, place.end * width, PluginCall()));
    values = decoded;
  }
  CopyPieces(width, place.end - place.begin, values.data() + place.begin * width, width,
             place.first + place.begin * place.stride, place.stride);
  return absl::OkStatus();
}

}  // namespace cairn::codec
