#include <memory>
#include <span>
#include <vector>

#include "engine/base/status.h"
#include "engine/codec/column_coder.h"
#include "engine/codec/stream_codec.h"
#include "engine/filter/filters.h"

// A column has the size of what follows (a varint), and its values, coded as bytes.
namespace cairn::codec {

namespace {

using numbers::Coding;
using numbers::Column;
using numbers::StreamHead;

class BytesCoder final : public ColumnCoder {
 public:
  explicit BytesCoder(Coding coding)
      : is_shuffled_(numbers::IsShuffled(coding)),
        codec_(coding == Coding::kZstd || coding == Coding::kShuffledZstd ? MakeZstd()
                                                                          : MakeLz4()) {}

 private:
  absl::StatusOr<size_t> Encode(std::span<const numbers::NumberKind> kinds, Bytes values,
                                const EncodeParams& params, Column& column, ByteWriter& out) final {
    column.type.kind = kinds.front();
    coded_.resize(values.size());
    size_t size = 0;
    if (!values.empty()) {
      Bytes plain = values;
      if (is_shuffled_) {
        const MutableBytes shuffled = Values(values.size());
        filter::Shuffle(ItemSize(column), values, shuffled);
        plain = shuffled;
      }
      CAIRN_ASSIGN_OR_RETURN(size, codec_->Compress(plain, coded_, {.clevel = params.clevel}));
    }
    // Bytes that do not get smaller are stored as they are.
    const Bytes stored = size == 0 ? values : Bytes(coded_).first(size);
    out.Varint(stored.size());
    out.Append(stored);
    return size_t{0};
  }

  absl::Status Decode(const StreamHead& head, const Column& column, const Place& place,
                      Bytes /*src*/, ByteReader& in) final {
    const Bytes stored = in.Take(in.Varint("size of a column"), "column");
    if (!in.ok()) return in.status();
    const size_t width = column.width();
    const size_t size = place.records * width;
    if (stored.size() > size) {
      return DataLoss("%s: %d bytes as %d", head.stream, size, stored.size());
    }
    if (place.begin == place.end) return absl::OkStatus();
    Bytes values = stored;
    if (stored.size() < size) {
      const MutableBytes decoded = Values(size);
      const size_t wanted = is_shuffled_ ? size : place.end * width;
      CAIRN_RETURN_IF_ERROR(codec_->DecompressStart(stored, decoded, wanted, PluginCall()));
      values = decoded;
      if (is_shuffled_) {
        // Shuffled bytes lie apart from each other, so all of them were needed.
        coded_.resize(size);
        filter::Unshuffle(ItemSize(column), decoded, coded_);
        values = coded_;
      }
    }
    CopyPieces(width, place.end - place.begin, values.data() + place.begin * width, width,
               place.first, place.stride);
    return absl::OkStatus();
  }

  // Returns the bytes of the items that SHUFFLE takes apart: numbers, or else the bytes of a
  // record.
  static size_t ItemSize(const Column& column) {
    return column.is_bytes ? column.count : static_cast<size_t>(column.type.size);
  }

  const bool is_shuffled_;
  const std::unique_ptr<StreamCodec> codec_;
  std::vector<std::byte> coded_;
};

}  // namespace

std::unique_ptr<ColumnCoder> MakeBytesCoder(Coding coding) {
  return std::make_unique<BytesCoder>(coding);
}

}  // namespace cairn::codec
