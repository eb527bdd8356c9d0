// Codes streams of records, taken apart by columns, for the codecs of numbers.
#ifndef CAIRN_ENGINE_CODEC_COLUMN_CODEC_H_
#define CAIRN_ENGINE_CODEC_COLUMN_CODEC_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/codec/coding_chooser.h"
#include "engine/codec/column_coders.h"
#include "engine/codec/numbers/number.h"
#include "engine/codec/numbers/stream_head.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

// A stream begins with its head, and the columns follow, as their coders store them. Bytes after
// the last whole record end the stream. docs/file-format.md has the details.
class ColumnCodec final : public StreamCodec {
 public:
  explicit ColumnCodec(const numbers::Format& format) : format_(format) {}

  void UseColumns(std::span<const ItemColumn> columns) override;
  absl::StatusOr<std::vector<numbers::Column>> ChooseColumns(Bytes items, size_t stream,
                                                             const PluginCall& call) override;
  void UseChosen(std::span<const numbers::Column> columns) override;
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override;
  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) override;
  absl::Status DecompressStart(Bytes src, MutableBytes dst, size_t wanted,
                               const PluginCall& call) override;
  absl::Status DecompressPart(Bytes src, MutableBytes dst, const StreamPart& part,
                              const PluginCall& call) override;

 private:
  // Returns the columns of items, coded as all are. There are none if the items are no numbers, and
  // each column says how it is coded only later.
  std::vector<numbers::Column> ColumnsFor(const PluginCall& call) const;
  // Returns what the numbers of a column may be. Where nobody says so, a sample of them tells.
  std::span<const numbers::NumberKind> KindsOf(const numbers::Column& column,
                                               const PluginCall& call) const;
  // Returns the values of a column one after the other: those of `runs` runs of records, which are
  // spread over all.
  Bytes Gather(const std::byte* first, size_t width, size_t stride, size_t records);
  Bytes Sample(const std::byte* first, const numbers::Column& column, size_t stride,
               size_t records);
  MutableBytes Values(size_t size);

  const numbers::Format format_;
  ColumnCoders coders_;
  CodingChooser chooser_{coders_};
  std::vector<numbers::Column> columns_;  // of the items; empty if they are numbers
  std::vector<numbers::Column> chosen_;   // the same with their codings, or empty
  // These are of the stream that is decoded.
  numbers::StreamHead head_;
  std::vector<const FieldSpan*> placed_;  // fields whose values are where they are wanted
  std::vector<std::byte> values_;
};

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_COLUMN_CODEC_H_
