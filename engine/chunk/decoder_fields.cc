#include <algorithm>
#include <vector>

#include "absl/container/inlined_vector.h"

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/special.h"
#include "engine/filter/block_part.h"
#include "engine/filter/filters.h"

namespace cairn::chunk {

// Decodes fields of a range of items, block by block.
class FieldDecoder {
 public:
  FieldDecoder(const Decoder& decoder, const ItemRange& items, const ItemFields& fields)
      : decoder_(decoder), items_(items), fields_(fields) {}
  absl::Status Decode(Workspace& workspace) const;

 private:
  // Decodes fields of the items that begin in a block.
  absl::Status DecodeIn(const BlockPlace& place, Bytes reference, Workspace& workspace) const;
  // Decodes fields of items that lie in a block of planes.
  absl::Status DecodePlanes(const BlockPlace& place, const ItemRange& items,
                            Workspace& workspace) const;
  // Returns true if the codec may have coded fields apart from each other.
  bool HasColumns() const {
    return CodesNumbers(decoder_.codec_) && decoder_.pipeline_.active() == 0 &&
           decoder_.header_.unsplit && !decoder_.header_.vlblocks;
  }
  // Decodes fields of items that lie in a block, whose codec may decode only these.
  absl::Status DecodeColumns(const BlockPlace& place, const ItemRange& items,
                             Workspace& workspace) const;
  // Decodes bytes that lie in any blocks.
  absl::Status DecodeAcross(int64_t begin, Bytes reference, MutableBytes dst,
                            Workspace& workspace) const;

  const Decoder& decoder_;
  const ItemRange& items_;
  const ItemFields& fields_;
};

absl::Status Decoder::DecodeFields(const ItemRange& items, const ItemFields& fields,
                                   Workspace& workspace) const {
  const std::optional<int64_t> size = CheckedMul(items.count, fields.item_size());
  if (!size.has_value() || !RangeFits(items.begin, *size, header_.nbytes)) {
    return OutOfRange("chunk: %d items of %d bytes from byte %d on of %d", items.count,
                      fields.item_size(), items.begin, header_.nbytes);
  }
  if (*size == 0) return absl::OkStatus();
  const Bytes body = chunk_.subspan(static_cast<size_t>(header_.size()));
  if (header_.special != SpecialValue::kNone) {
    return FillSpecialFields({.kind = header_.special, .typesize = header_.typesize, .value = body},
                             items, fields, workspace.gathered);
  }
  if (header_.memcpyed) {
    fields.Gather(body.subspan(static_cast<size_t>(items.begin)), items);
    return absl::OkStatus();
  }
  return FieldDecoder(*this, items, fields).Decode(workspace);
}

absl::Status FieldDecoder::Decode(Workspace& workspace) const {
  const int64_t end = items_.begin + items_.count * fields_.item_size();
  const BlockRange range{.first = decoder_.BlockAt(items_.begin),
                         .last = decoder_.BlockAt(end - 1) + 1};
  // Each thread takes memory for a block.
  const bool threads = 6 * int64_t{decoder_.header_.nbytes} <= decoder_.context_.max_memory &&
                       WorthThreads(decoder_.context_.executor,
                                    items_.count * fields_.wanted_size(), range.last - range.first);
  MutableBytes reference;
  if (decoder_.NeedsReference() && range.last > 1) {
    CAIRN_RETURN_IF_ERROR(CheckDecodeMemory(decoder_.context_, 0,
                                            decoder_.MemoryFor(decoder_.header_.blocksize, true)));
    reference = workspace.reference.Get(static_cast<size_t>(decoder_.header_.blocksize));
    CAIRN_RETURN_IF_ERROR(decoder_.DecodeReference(reference, workspace));
  }
  return ForEachBlock(
      range, threads ? decoder_.context_.executor : nullptr, *decoder_.context_.pool, workspace,
      [this](Workspace& own) { return decoder_.PrepareWorkspace(own); },
      [&](int64_t block, Workspace& own) -> absl::Status {
        CAIRN_ASSIGN_OR_RETURN(const BlockPlace place, decoder_.PlaceOf(block));
        return DecodeIn(place, reference, own);
      });
}

absl::Status FieldDecoder::DecodeIn(const BlockPlace& place, Bytes reference,
                                    Workspace& workspace) const {
  CAIRN_RETURN_IF_ERROR(decoder_.CheckMemory(place));
  const int64_t size = fields_.item_size();
  const int64_t block_end = place.begin + place.nbytes;
  // Items [first, complete) lie in the block, and those up to `last` begin there.
  const int64_t first = CeilDiv(std::max<int64_t>(0, place.begin - items_.begin), size);
  const int64_t last = std::min(items_.count, CeilDiv(block_end - items_.begin, size));
  const int64_t complete = std::clamp((block_end - items_.begin) / size, first, last);
  const auto part_of = [&](int64_t from, int64_t to) {
    return ItemRange{
        .begin = items_.begin + from * size, .first = items_.first + from, .count = to - from};
  };
  if (complete > first) {
    const ItemRange part = part_of(first, complete);
    const bool in_planes = static_cast<int64_t>(decoder_.pipeline_.PlanesOfShuffle()) == size &&
                           (part.begin - place.begin) % size == 0;
    if (in_planes) {
      CAIRN_RETURN_IF_ERROR(DecodePlanes(place, part, workspace));
    } else if (HasColumns() && (part.begin - place.begin) % size == 0) {
      CAIRN_RETURN_IF_ERROR(DecodeColumns(place, part, workspace));
    } else {
      CAIRN_RETURN_IF_ERROR(decoder_.CheckMemory(place, part.count * size));
      const MutableBytes held = workspace.gathered.Get(static_cast<size_t>(part.count * size));
      CAIRN_RETURN_IF_ERROR(DecodeAcross(part.begin, reference, held, workspace));
      fields_.Gather(held, part);
    }
  }
  for (int64_t i = complete; i < last; ++i) {
    const ItemRange item = part_of(i, i + 1);
    for (const FieldSpan& field : fields_.fields()) {
      CAIRN_RETURN_IF_ERROR(DecodeAcross(item.begin + field.offset, reference,
                                         ItemFields::ValuesOf(field, item), workspace));
    }
  }
  return absl::OkStatus();
}

absl::Status FieldDecoder::DecodePlanes(const BlockPlace& place, const ItemRange& items,
                                        Workspace& workspace) const {
  const auto nbytes = static_cast<size_t>(place.nbytes);
  const auto size = static_cast<size_t>(fields_.item_size());
  const size_t stride = nbytes / size;
  const size_t first = static_cast<size_t>(items.begin - place.begin) / size;
  const auto part_of = [&](const FieldSpan& field) {
    return filter::BlockPart{.planes = static_cast<size_t>(field.size),
                             .stride = stride,
                             .begin = static_cast<size_t>(field.offset) * stride + first,
                             .piece = static_cast<size_t>(items.count)};
  };
  const MutableBytes planes = workspace.filtered.Get(nbytes);
  CAIRN_RETURN_IF_ERROR(
      decoder_.DecodeStreams(place, planes, workspace, [&](size_t begin, size_t end) {
        size_t wanted = begin;
        for (const FieldSpan& field : fields_.fields()) {
          wanted = std::max(wanted, part_of(field).EndWithin(begin, end));
        }
        return codec::StreamPart{.end = wanted - begin};
      }));
  for (const FieldSpan& field : fields_.fields()) {
    filter::UnshufflePlanes(static_cast<size_t>(field.size), planes.subspan(part_of(field).begin),
                            stride, ItemFields::ValuesOf(field, items));
  }
  return absl::OkStatus();
}

absl::Status FieldDecoder::DecodeColumns(const BlockPlace& place, const ItemRange& items,
                                         Workspace& workspace) const {
  const auto begin = static_cast<size_t>(items.begin - place.begin);
  const auto item_size = static_cast<size_t>(fields_.item_size());
  const size_t size = static_cast<size_t>(items.count) * item_size;
  const MutableBytes block = workspace.filtered.Get(static_cast<size_t>(place.nbytes));
  absl::InlinedVector<FieldSpan, 8> fields(fields_.fields().begin(), fields_.fields().end());
  for (FieldSpan& field : fields) field.dst = ItemFields::ValuesOf(field, items);
  const codec::StreamPart part = {
      .begin = begin, .end = begin + size, .item_size = item_size, .fields = fields};
  return decoder_.DecodeStreams(place, block, workspace, [&](size_t, size_t) { return part; });
}

absl::Status FieldDecoder::DecodeAcross(int64_t begin, Bytes reference, MutableBytes dst,
                                        Workspace& workspace) const {
  for (int64_t block = decoder_.BlockAt(begin);
       block <= decoder_.BlockAt(begin + std::ssize(dst) - 1); ++block) {
    CAIRN_ASSIGN_OR_RETURN(const BlockPlace place, decoder_.PlaceOf(block));
    CAIRN_RETURN_IF_ERROR(decoder_.CheckMemory(place));
    CAIRN_RETURN_IF_ERROR(
        decoder_.DecodeOverlap(block, block == 0 ? Bytes() : reference, begin, dst, workspace));
  }
  return absl::OkStatus();
}

int64_t MaxGap(const Decoder& decoder) {
  // All items of a vector of bitpack take as long as a few dozen. pco decodes a page up to the item
  // that is wanted; those of records are smaller.
  constexpr int64_t kFewNumbers = 32;
  constexpr int64_t kPage = 1024;
  constexpr int64_t kRecordPage = 256;
  const Header& header = decoder.header();
  if (!HoldsNumbers(header)) return header.nbytes;
  const absl::StatusOr<std::vector<numbers::Column>> columns = ReadColumns(decoder);
  // A codec of bytes decodes its column up to the item that is wanted.
  const auto has_no_pages = [](const numbers::Column& column) { return TakesBytes(column.coding); };
  if (!columns.ok() || std::ranges::any_of(*columns, has_no_pages)) return header.nbytes;
  if (DecodesSingleItems(header)) return kFewNumbers * header.typesize;
  return (columns->size() > 1 ? kRecordPage : kPage) * header.typesize;
}

}  // namespace cairn::chunk
