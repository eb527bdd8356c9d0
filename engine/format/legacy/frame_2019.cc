#include "engine/format/legacy/frame_2019.h"

#include "engine/base/byte_reader.h"
#include "engine/base/status.h"
#include "engine/format/legacy/early_fields.h"
#include "engine/format/msgpack.h"

namespace cairn::format::legacy {

absl::StatusOr<FrameHeader> ParseHeader2019(Bytes bytes) {
  ByteReader reader(bytes, kFrameHeaderSection);
  FrameHeader header = ReadEarlyFields(reader);
  header.version = 0;  // the low bits of general_flags meant something else
  const bool layers = !bytes.empty() && bytes[0] == std::byte{kArray2019WithLayers};
  reader.Expect(layers ? msgpack::kTrue : msgpack::kFalse, "metalayers");
  if (layers) header.places = ReadLayers(reader, kMaxMetalayers);
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckHeaderValues(header));
  TakeMetalayers(bytes, header);
  return header;
}

}  // namespace cairn::format::legacy
