#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/prefetch.h"
#include "engine/base/status.h"
#include "engine/codec/column_coder.h"
#include "engine/codec/pco/chunk_decoder.h"
#include "engine/codec/pco/chunk_encoder.h"

// A column of numbers has the size of its description (a varint), the description, the sizes of its
// pages (varints), and the pages.
namespace cairn::codec {

namespace {

using numbers::Column;
using numbers::NumberKind;
using numbers::StreamHead;

// By the level of compression, the logarithm of how many bins are tried.
constexpr std::array<int, 10> kBinsLogs = {4, 4, 5, 6, 7, 8, 8, 9, 9, 10};

// Returns the logarithm of a power of two.
size_t Log2(int size) { return static_cast<size_t>(std::countr_zero(static_cast<unsigned>(size))); }

class PcoCoder final : public ColumnCoder {
  absl::StatusOr<size_t> Encode(std::span<const NumberKind> kinds, Bytes values,
                                const EncodeParams& params, Column& column, ByteWriter& out) final {
    const int size = column.type.size;
    std::unique_ptr<pco::ChunkEncoder>& encoder = encoders_[Log2(size)];
    if (encoder == nullptr) encoder = pco::ChunkEncoder::Make(size);
    const int bins_log = kBinsLogs[static_cast<size_t>(std::clamp(params.clevel, 0, 9))];
    const pco::EncodedChunk& chunk =
        encoder->Encode(kinds, values, int64_t{1} << params.page_log, bins_log);
    out.Varint(chunk.meta.size());
    out.Append(chunk.meta);
    size_t pages = 0;
    for (const size_t page : chunk.page_sizes) {
      out.Varint(page);
      pages += page;
    }
    out.Append(Bytes(chunk.pages).first(pages));
    column.type.kind = chunk.kind;
    return chunk.meta.size();
  }

  absl::Status Decode(const StreamHead& head, const Column& column, const Place& place, Bytes src,
                      ByteReader& in) final {
    const Bytes description = in.Take(in.Varint("size of a description"), "description");
    const auto page_log = static_cast<size_t>(head.page_log);
    const size_t page_count = size_t{1} << page_log;
    const size_t count = place.records * column.count;
    const size_t begin = place.begin * column.count;
    const size_t end = place.end * column.count;
    // Pages [first, last) are wanted.
    const size_t first = begin >> page_log;
    const size_t last = begin == end ? first : (end + page_count - 1) >> page_log;
    const uint64_t before = in.SumVarints(first, "sizes of pages");
    page_sizes_.clear();
    for (size_t i = first; i < last && in.ok(); ++i) {
      page_sizes_.push_back(in.Varint("size of a page"));
    }
    const size_t pages = (count + page_count - 1) >> page_log;
    const uint64_t after = in.SumVarints(pages - last, "sizes of pages");
    in.Take(before, "pages");
    if (!in.ok()) return in.status();
    pco::ChunkDecoder* decoder = nullptr;
    for (size_t i = 0; i < page_sizes_.size(); ++i) {
      const Bytes page = in.Take(page_sizes_[i], "page");
      if (!in.ok()) return in.status();
      Prefetch(page);
      if (decoder == nullptr) {
        CAIRN_ASSIGN_OR_RETURN(decoder, DecoderOf(head, column, description, src));
      }
      pco::BitReader bits(Padded(page, src));
      const size_t page_begin = (first + i) << page_log;
      const size_t page_end = std::min(page_begin + page_count, count);
      CAIRN_RETURN_IF_ERROR(DecodePage(*decoder, column, page_begin, page_end, bits, place));
    }
    in.Take(after, "pages");
    return in.status();
  }

  // Making the tables of a column takes as long as decoding a page. Items that are read one by one
  // mostly have those of the items before, so the last tables are kept.
  absl::StatusOr<pco::ChunkDecoder*> DecoderOf(const StreamHead& head, const Column& column,
                                               Bytes description, Bytes src) {
    const auto is_of_column = [&](const Tables& kept) {
      return kept.decoder != nullptr && kept.type == column.type && kept.minor == head.minor &&
             AreEqual(kept.description, description);
    };
    if (const auto kept = std::ranges::find_if(tables_, is_of_column); kept != tables_.end()) {
      return kept->decoder.get();
    }
    pco::BitReader bits(Padded(description, src));
    CAIRN_ASSIGN_OR_RETURN(pco::ChunkMeta meta,
                           pco::ReadChunkMeta({.minor = head.minor}, column.type, bits));
    Tables& tables = tables_[next_];
    next_ = (next_ + 1) % tables_.size();
    if (tables.decoder == nullptr || tables.type.size != column.type.size) {
      tables.decoder = pco::ChunkDecoder::Make(column.type.size);
    }
    tables.type = column.type;
    tables.minor = head.minor;
    tables.description.assign(description.begin(), description.end());
    tables.decoder->BeginChunk(column.type.kind, std::move(meta));
    return tables.decoder.get();
  }

  // Decodes what is wanted of the page that has the numbers [begin, end) of a column.
  absl::Status DecodePage(pco::ChunkDecoder& decoder, const Column& column, size_t begin,
                          size_t end, pco::BitReader& bits, const Place& place) {
    const auto width = static_cast<size_t>(column.type.size);
    const size_t first = place.begin * column.count;
    const size_t wanted_begin = std::max(begin, first);
    const size_t wanted_end = std::min(end, place.end * column.count);
    const size_t size = (wanted_end - wanted_begin) * width;
    if (place.stride == column.width()) {
      return decoder.DecodePage(bits, end - begin, wanted_begin - begin,
                                {place.first + (wanted_begin - first) * width, size});
    }
    const MutableBytes values = Values(size);
    CAIRN_RETURN_IF_ERROR(decoder.DecodePage(bits, end - begin, wanted_begin - begin, values));
    ToRecords(column, wanted_begin, wanted_end, values.data(), place);
    return absl::OkStatus();
  }

  // Returns bytes of a stream with others after them that a BitReader may read.
  Bytes Padded(Bytes bytes, Bytes stream) {
    const auto begin = static_cast<size_t>(bytes.data() - stream.data());
    const size_t size = bytes.size() + pco::kPadding;
    if (size <= stream.size() - begin) return stream.subspan(begin, size);
    padded_.assign(bytes.begin(), bytes.end());
    padded_.resize(size);
    return padded_;
  }

  // The tables of a column, and what they were made of.
  struct Tables {
    numbers::NumberType type = {};
    int minor = 0;
    std::vector<std::byte> description;
    std::unique_ptr<pco::ChunkDecoder> decoder;
  };

  // By the logarithm of the numbers' size:
  std::array<std::unique_ptr<pco::ChunkEncoder>, 4> encoders_;
  std::array<Tables, 8> tables_;
  size_t next_ = 0;  // the tables that are replaced next
  std::vector<uint64_t> page_sizes_;
  std::vector<std::byte> padded_;
};

}  // namespace

std::unique_ptr<ColumnCoder> MakePcoCoder() { return std::make_unique<PcoCoder>(); }

}  // namespace cairn::codec
