#include "engine/chunk/special.h"

#include <algorithm>
#include <array>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"

namespace cairn::chunk {

namespace {

// Repeats `pattern`, beginning inside it at `phase`.
void FillPattern(Bytes pattern, size_t phase, MutableBytes dst) {
  size_t done = 0;
  while (done < dst.size() && done < pattern.size()) {  // one period, byte by byte
    dst[done++] = pattern[phase];
    phase = phase + 1 == pattern.size() ? 0 : phase + 1;
  }
  while (done < dst.size()) {  // then double what is there
    const size_t n = std::min(done, dst.size() - done);
    CopyBytes(dst.first(n), dst.subspan(done, n));
    done += n;
  }
}

// Returns the number of bytes after which the content repeats.
int64_t PeriodOf(const SpecialContent& content) {
  if (content.kind == SpecialValue::kNans) return content.typesize;
  return content.kind == SpecialValue::kRepeat ? std::ssize(content.value) : 1;
}

// Makes a chunk of `nbytes` in one block. The header holds the rest.
std::vector<std::byte> MakeChunk(Header header, size_t nbytes, Bytes stored) {
  header.nbytes = static_cast<int32_t>(nbytes);
  header.blocksize = std::clamp<int32_t>(header.nbytes, 1, kMaxBlockSize);
  std::vector<std::byte> out(kHeaderSize + stored.size());
  StoreWithoutBlocks(header, stored, out).IgnoreError();
  return out;
}

}  // namespace

absl::Status FillSpecial(const SpecialContent& content, int64_t begin, MutableBytes dst) {
  std::array<std::byte, 8> nan{};
  Bytes pattern;
  switch (content.kind) {
    case SpecialValue::kNone:
    case SpecialValue::kZeros:
    case SpecialValue::kUninit:
      FillBytes(dst, std::byte{0});
      return absl::OkStatus();
    case SpecialValue::kNans:
      if (content.typesize == 4) {
        StoreLe<uint32_t>(nan.data(), 0x7FC00000);
        pattern = Bytes(nan).first(4);
      } else if (content.typesize == 8) {
        StoreLe<uint64_t>(nan.data(), 0x7FF8000000000000);
        pattern = nan;
      } else {
        return DataLoss("chunk of NaNs: typesize: expected 4 or 8, got %d", content.typesize);
      }
      break;
    case SpecialValue::kRepeat:
      pattern = content.value;
      break;
  }
  if (pattern.empty()) return DataLoss("chunk of a repeated value: the value is empty");
  FillPattern(pattern, static_cast<size_t>(begin) % pattern.size(), dst);
  return absl::OkStatus();
}

absl::Status FillSpecialFields(const SpecialContent& content, const ItemRange& items,
                               const ItemFields& fields, ScratchBuffer& buffer) {
  const int64_t period = std::max<int64_t>(1, PeriodOf(content));
  if (items.count == 0) return absl::OkStatus();
  if (fields.item_size() % period != 0) {
    return fields.Read(items, buffer, [&content](int64_t begin, MutableBytes dst) {
      return FillSpecial(content, begin, dst);
    });
  }
  // All items are equal.
  for (const FieldSpan& field : fields.fields()) {
    const MutableBytes values = ItemFields::ValuesOf(field, items);
    const MutableBytes value = values.first(static_cast<size_t>(field.size));
    CAIRN_RETURN_IF_ERROR(FillSpecial(content, items.begin + field.offset, value));
    FillPattern(value, 0, values.subspan(value.size()));
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> StoreWithoutBlocks(Header header, Bytes stored, MutableBytes dst) {
  const size_t size = stored.size() + static_cast<size_t>(header.size());
  if (size > dst.size()) {
    return ResourceExhausted("chunk of %d bytes does not fit into %d", size, dst.size());
  }
  header.cbytes = static_cast<int32_t>(size);
  StoreHeader(header, dst);
  CopyBytes(stored, dst.subspan(static_cast<size_t>(header.size())));
  return size;
}

std::vector<std::byte> MemcpyedChunk(Bytes payload, int32_t typesize) {
  Header header;
  header.typesize = HeaderTypesize(typesize);
  header.memcpyed = true;
  return MakeChunk(header, payload.size(), payload);
}

std::vector<std::byte> MemcpyedHeader(int32_t nbytes) {
  Header header;
  header.memcpyed = true;
  header.nbytes = nbytes;
  header.blocksize = std::clamp<int32_t>(nbytes, 1, kMaxBlockSize);
  header.cbytes = kHeaderSize + nbytes;
  std::vector<std::byte> out(kHeaderSize);
  StoreHeader(header, out);
  return out;
}

std::vector<std::byte> ZerosChunk(int32_t nbytes) {
  Header header;
  header.special = SpecialValue::kZeros;
  return MakeChunk(header, static_cast<size_t>(nbytes), {});
}

absl::StatusOr<Bytes> MemcpyedPayload(Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(const Header header, ParseHeader(chunk));
  if (!header.memcpyed || header.special != SpecialValue::kNone) {
    return DataLoss("chunk header: expected a memcpyed chunk");
  }
  return chunk.subspan(static_cast<size_t>(header.size()), static_cast<size_t>(header.nbytes));
}

}  // namespace cairn::chunk
