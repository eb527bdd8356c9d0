#include "engine/chunk/plain.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/header.h"

namespace cairn::chunk {

namespace {

Header PlainHeader(size_t nbytes) {
  Header header;
  header.nbytes = static_cast<int32_t>(nbytes);
  header.blocksize = std::clamp<int32_t>(header.nbytes, 1, kMaxBlockSize);
  header.cbytes = kHeaderSize;
  return header;
}

}  // namespace

std::vector<std::byte> PlainChunk(Bytes payload, int32_t typesize) {
  Header header = PlainHeader(payload.size());
  header.typesize = HeaderTypesize(typesize);
  header.memcpyed = true;
  header.cbytes += header.nbytes;
  std::vector<std::byte> out(static_cast<size_t>(header.cbytes));
  StoreHeader(header, out);
  CopyBytes(payload, MutableBytes(out).subspan(kHeaderSize));
  return out;
}

std::vector<std::byte> PlainZeros(int32_t nbytes) {
  Header header = PlainHeader(static_cast<size_t>(nbytes));
  header.special = SpecialValue::kZeros;
  std::vector<std::byte> out(kHeaderSize);
  StoreHeader(header, out);
  return out;
}

absl::StatusOr<Bytes> PlainPayload(Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(const Header header, ParseHeader(chunk));
  if (!header.memcpyed || header.special != SpecialValue::kNone) {
    return DataLoss("chunk header: expected a memcpyed chunk");
  }
  return chunk.subspan(static_cast<size_t>(header.size()), static_cast<size_t>(header.nbytes));
}

}  // namespace cairn::chunk
