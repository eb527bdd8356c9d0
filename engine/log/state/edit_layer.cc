#include "engine/log/state/edit_layer.h"

#include <limits>
#include <utility>

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/status.h"

namespace cairn::log {

namespace {

constexpr uint32_t kEditMagic = 0x45474C43;  // "CLGE"
constexpr uint32_t kEditVersion = 1;
constexpr int64_t kMaxChanges = int64_t{1} << 62;  // so that writers can count on

}  // namespace

absl::StatusOr<EditLayer> ParseEditLayer(Bytes content) {
  ByteReader reader(content, "edits");
  ReadHeadIfAny(reader);
  if (reader.Le<uint32_t>("magic") != kEditMagic) reader.Fail("magic", "not that of edits");
  const auto version = reader.Le<uint32_t>("version");
  if (reader.ok() && version != kEditVersion) {
    return Unimplemented("edits of a log: version %d, this Cairn knows %d", version, kEditVersion);
  }
  EditLayer layer;
  layer.older_files = reader.Le<int64_t>("changes of older files");
  if (layer.older_files < 0 || layer.older_files > kMaxChanges) {
    reader.Fail("changes of older files", "less than 0, or more than can be");
  }
  const uint64_t count = reader.Varint("ranges");
  if (count > static_cast<uint64_t>(kMaxDeletedRanges)) reader.Fail("ranges", "too many");
  uint64_t end = 0;
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    const uint64_t gap = reader.Varint("begin");
    const uint64_t records = reader.Varint("records");
    const uint64_t most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) - end;
    if (gap > most || records > most - gap) reader.Fail("records", "after the greatest number");
    if (records == 0 || (i > 0 && gap == 0)) reader.Fail("records", "none, or no gap before them");
    if (!reader.ok()) break;
    const uint64_t begin = end + gap;
    end = begin + records;
    layer.deleted.push_back(
        {.begin = static_cast<int64_t>(begin), .end = static_cast<int64_t>(end)});
  }
  if (reader.remaining() > 0) reader.Fail("ranges", "bytes after the last");
  CAIRN_RETURN_IF_ERROR(reader.status());
  return layer;
}

std::vector<std::byte> EncodeEditLayer(const EditLayer& layer) {
  ByteWriter writer = BeginBinary();
  writer.Le(kEditMagic);
  writer.Le(kEditVersion);
  writer.Le(layer.older_files);
  writer.Varint(layer.deleted.size());
  int64_t end = 0;
  for (const RecordRange& range : layer.deleted) {
    writer.Varint(static_cast<uint64_t>(range.begin - end));
    writer.Varint(static_cast<uint64_t>(range.end - range.begin));
    end = range.end;
  }
  return EndBinary(std::move(writer));
}

}  // namespace cairn::log
