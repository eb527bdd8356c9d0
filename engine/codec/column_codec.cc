#include "engine/codec/column_codec.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/codec/column_coder.h"
#include "engine/codec/column_place.h"

namespace cairn::codec {

namespace {

using numbers::Coding;
using numbers::Column;
using numbers::NumberKind;

constexpr numbers::Format kPcoFormat = {.stream = "pco stream",
                                        .numbers = Coding::kPco,
                                        .bytes = Coding::kZstd,
                                        .record_page_log = 8,
                                        .major = 4,
                                        .minor = 1};
constexpr numbers::Format kBitpackFormat = {.stream = "bitpack stream",
                                            .numbers = Coding::kBitpack,
                                            .bytes = Coding::kLz4,
                                            .record_page_log = kPageLog,
                                            .major = 1,
                                            .minor = 0};
constexpr numbers::Format kAutoFormat = {
    .stream = "auto stream", .is_mixed = true, .record_page_log = kPageLog};
// A sample has this many runs of neighbours, each of a page of numbers or so many bytes.
constexpr size_t kRuns = 4;
constexpr size_t kRunBytes = 8192;

// Returns the kind that the parameter of the codec says, which is 0 if nobody knows.
bool TellsKind(const PluginCall& call) {
  const bool may_be_float = call.typesize > 1;  // no float has one byte
  return call.meta >= 1 && call.meta <= (may_be_float ? 3 : 2);
}

}  // namespace

void ColumnCodec::UseColumns(std::span<const ItemColumn> columns) {
  columns_.clear();
  chosen_.clear();
  for (const ItemColumn& column : columns) {
    const bool is_bytes = column.kind == 0;
    columns_.push_back(
        {.is_bytes = is_bytes,
         .type = {.kind = is_bytes ? NumberKind::kUint : static_cast<NumberKind>(column.kind - 1),
                  .size = column.size},
         .count = static_cast<size_t>(column.count),
         .coding = is_bytes ? format_.bytes : format_.numbers});
  }
}

void ColumnCodec::UseChosen(std::span<const Column> columns) {
  chosen_.assign(columns.begin(), columns.end());
}

absl::StatusOr<std::vector<Column>> ColumnCodec::ChooseColumns(Bytes items, size_t stream,
                                                               const PluginCall& call) {
  std::vector<Column> columns = ColumnsFor(call);
  if (!format_.is_mixed) return columns;
  size_t stride = 0;
  for (const Column& column : columns) stride += column.width();
  const size_t records = items.size() / stride;
  const std::byte* first = items.data();
  for (Column& column : columns) {
    const size_t width = column.width();
    const Bytes sample = Sample(first, column, stride, records);
    CAIRN_RETURN_IF_ERROR(chooser_.Choose(KindsOf(column, call), sample, stream / stride * width,
                                          call.clevel, column));
    first += width;
  }
  return columns;
}

std::vector<Column> ColumnCodec::ColumnsFor(const PluginCall& call) const {
  if (!columns_.empty()) return columns_;
  const bool is_number =
      std::has_single_bit(static_cast<unsigned>(call.typesize)) && call.typesize <= 8;
  if (is_number) {
    const auto kind = TellsKind(call) ? static_cast<NumberKind>(call.meta - 1) : NumberKind::kInt;
    return {{.type = {.kind = kind, .size = call.typesize}, .coding = format_.numbers}};
  }
  if (!format_.is_mixed) return {};
  return {{.is_bytes = true, .type = {.size = 1}, .count = static_cast<size_t>(call.typesize)}};
}

std::span<const NumberKind> ColumnCodec::KindsOf(const Column& column,
                                                 const PluginCall& call) const {
  static constexpr NumberKind kIntOrFloat[] = {NumberKind::kInt, NumberKind::kFloat};
  const bool is_known = !columns_.empty() || !chosen_.empty() || TellsKind(call);
  if (is_known || column.is_bytes || column.type.size < 4) return {&column.type.kind, 1};
  return kIntOrFloat;
}

absl::StatusOr<size_t> ColumnCodec::Compress(Bytes src, MutableBytes dst, const PluginCall& call) {
  dst = UsefulPart(src, dst);
  std::vector<Column> columns = chosen_;
  if (columns.empty()) {
    CAIRN_ASSIGN_OR_RETURN(columns, ChooseColumns(src, src.size(), call));
  }
  if (columns.empty()) return 0;
  size_t stride = 0;
  for (const Column& column : columns) stride += column.width();
  const size_t records = src.size() / stride;
  const EncodeParams params = {.clevel = call.clevel,
                               .page_log = columns.size() > 1 ? format_.record_page_log : kPageLog};
  ByteWriter body;
  const std::byte* first = src.data();
  for (Column& column : columns) {
    const Bytes values = Gather(first, column.width(), stride, records);
    first += column.width();
    ColumnCoder& coder = coders_.Get(column.coding);
    CAIRN_RETURN_IF_ERROR(
        coder.Encode(KindsOf(column, call), values, params, column, body).status());
    if (body.size() > dst.size()) return 0;
  }
  body.Append(src.subspan(records * stride));
  ByteWriter head;
  WriteStreamHead(format_, src.size(), params.page_log, columns, head);
  const size_t size = head.size() + body.size();
  if (size > dst.size()) return 0;
  CopyBytes(head.written(), dst);
  CopyBytes(body.written(), dst.subspan(head.size()));
  return size;
}

void StreamPart::Gather(Bytes stream, const FieldSpan& field) const {
  const auto size = static_cast<size_t>(field.size);
  CopyPieces(size, (end - begin) / item_size,
             stream.data() + begin + static_cast<size_t>(field.offset), item_size,
             field.dst.bytes().data(), size);
}

void StreamPart::Gather(Bytes stream) const {
  for (const FieldSpan& field : fields) Gather(stream, field);
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
  const bool are_items = stride == part.item_size && place.begin * stride == part.begin &&
                         place.end * stride == part.end;
  placed_.clear();
  size_t offset = 0;
  for (const Column& column : head_.columns) {
    const size_t width = column.width();
    Place wanted = place;
    wanted.first = dst.data() + place.begin * stride + offset;
    if (!part.Wants(stride, offset, width)) wanted.end = wanted.begin;
    const FieldSpan* const field = are_items ? part.FieldOf(offset, width) : nullptr;
    if (field != nullptr) {
      wanted.first = field->dst.bytes().data();
      wanted.stride = width;
      placed_.push_back(field);
    }
    CAIRN_RETURN_IF_ERROR(coders_.Get(column.coding).Decode(head_, column, wanted, src, in));
    offset += width;
  }
  const MutableBytes rest = dst.subspan(place.records * stride);
  const Bytes stored = in.Take(rest.size(), "rest");
  if (!in.ok()) return in.status();
  CopyBytes(stored, rest);
  if (in.remaining() != 0) {
    return DataLoss("%s: %d bytes are left", format_.stream, in.remaining());
  }
  for (const FieldSpan& field : part.fields) {
    if (std::ranges::find(placed_, &field) == placed_.end()) part.Gather(dst, field);
  }
  return absl::OkStatus();
}

Bytes ColumnCodec::Gather(const std::byte* first, size_t width, size_t stride, size_t records) {
  if (width == stride) return {first, records * width};
  const MutableBytes values = Values(records * width);
  CopyPieces(width, records, first, stride, values.data(), width);
  return values;
}

Bytes ColumnCodec::Sample(const std::byte* first, const Column& column, size_t stride,
                          size_t records) {
  const size_t width = column.width();
  const size_t run =
      std::max<size_t>(1, column.is_bytes ? kRunBytes / width : kPage / column.count);
  if (records <= kRuns * run) return Gather(first, width, stride, records);
  const MutableBytes values = Values(kRuns * run * width);
  for (size_t i = 0; i < kRuns; ++i) {
    // The last run keeps away from the end, where an array has padding.
    const size_t begin = (2 * i + 1) * (records - run) / (2 * kRuns);
    CopyPieces(width, run, first + begin * stride, stride, values.data() + i * run * width, width);
  }
  return values;
}

MutableBytes ColumnCodec::Values(size_t size) {
  if (values_.size() < size) values_.resize(size);
  return MutableBytes(values_).first(size);
}

absl::Status ReadColumns(Codec codec, Bytes stream, std::vector<Column>& columns) {
  const numbers::Format& format = codec == Codec::kPco       ? kPcoFormat
                                  : codec == Codec::kBitpack ? kBitpackFormat
                                                             : kAutoFormat;
  ByteReader in(stream, format.stream);
  numbers::StreamHead head;
  CAIRN_RETURN_IF_ERROR(ReadStreamHead(format, in, head));
  columns = std::move(head.columns);
  return absl::OkStatus();
}

std::unique_ptr<StreamCodec> MakePco() { return std::make_unique<ColumnCodec>(kPcoFormat); }
std::unique_ptr<StreamCodec> MakeBitpack() { return std::make_unique<ColumnCodec>(kBitpackFormat); }
std::unique_ptr<StreamCodec> MakeAuto() { return std::make_unique<ColumnCodec>(kAutoFormat); }

}  // namespace cairn::codec
