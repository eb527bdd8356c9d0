#include "tests/format/legacy_frames.h"

#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "tests/support/hex.h"

namespace cairn::test {

namespace {

using Buffer = std::vector<std::byte>;

Buffer Joined(std::initializer_list<Buffer> parts) {
  Buffer all;
  for (const Buffer& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// A chunk of version 4 that stores its payload as it is and names SHUFFLE.
Buffer MemcpyedChunk4(Bytes payload, uint8_t typesize) {
  const auto size = static_cast<uint32_t>(payload.size());
  ByteWriter writer;
  writer.Append(Hex("04 01 07"));
  writer.U8(typesize);
  for (const uint32_t number : {size, size, 32 + size}) writer.Le(number);
  writer.Append(Hex("00 00 00 00 00 01 00 00  00 00 00 00 00 00 00 00"));
  writer.Append(payload);
  return std::move(writer).Take();
}

// After the header: 40 + 36 bytes of chunks, 48 of index.
Buffer Body() {
  const Buffer content = Hex(kLegacyContent);
  return Joined({MemcpyedChunk4(Bytes(content).first(8), 4),
                 MemcpyedChunk4(Bytes(content).subspan(8), 4),
                 MemcpyedChunk4(Hex("00 00 00 00 00 00 00 00 28 00 00 00 00 00 00 00"), 8)});
}

// After the header: 49 bytes of chunk, 40 of index. The chunk is a block of one raw stream.
Buffer BitshuffledBody() {
  return Joined({Hex("04 01 15 01  09 00 00 00  09 00 00 00  31 00 00 00"
                     "00 00 00 00 00 02 00 00  00 00 00 00 00 00 00 00"
                     "24 00 00 00  09 00 00 00"),
                 Hex(kWholeBlockContent), MemcpyedChunk4(Hex("00 00 00 00 00 00 00 00"), 8)});
}

Buffer BetaTrailer(BetaTrailerForm form) {
  return Joined({Hex(form == BetaTrailerForm::kBeta2 ? "0d 00" : "94 01"), Hex("c6 00 00 00 24"),
                 MemcpyedChunk4(AsBytes("user"), 1), Hex("ce 00 00 00 42 d8 00"), Buffer(16)});
}

constexpr std::string_view kBetaFilters =
    "d8 01  01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  93 cd 00 07 de 00 00 dc 00 00";

Buffer MemcpyedChunk2(Bytes payload, uint8_t typesize) {
  const auto size = static_cast<uint32_t>(payload.size());
  ByteWriter writer;
  writer.Append(Hex("02 01 02"));
  writer.U8(typesize);
  for (const uint32_t number : {size, size, 16 + size}) writer.Le(number);
  writer.Append(payload);
  return std::move(writer).Take();
}

// Chunks and where they lie, in the order in which they come.
class PackedBody {
 public:
  // Position of the chunk; 0 when there is no payload.
  uint64_t Add(Bytes payload, uint8_t typesize) {
    if (payload.empty()) return 0;
    const uint64_t position = 96 + chunks_.size();
    chunks_.Append(MemcpyedChunk2(payload, typesize));
    unpacked_ += payload.size();
    return position;
  }
  uint64_t end() const { return 96 + chunks_.size(); }
  uint64_t unpacked() const { return unpacked_; }
  Buffer Take() && { return std::move(chunks_).Take(); }

 private:
  ByteWriter chunks_;
  uint64_t unpacked_ = 96;
};

}  // namespace

Buffer Frame2019() {
  return Joined({Hex("9b a8 62 32 66 72 61 6d 65 00 d2 00 00 00 40 cf"
                     "00 00 00 00 00 00 00 bc a4 24 00 51 00 d3 00 00"
                     "00 00 00 00 00 0c d3 00 00 00 00 00 00 00 4c d2"
                     "00 00 00 04 d2 00 00 00 08 d1 00 01 d1 00 01 c2"),
                 Body()});
}

Buffer Frame2019WithLayer() {
  return Joined({Hex("9c a8 62 32 66 72 61 6d 65 00 d2 00 00 00 58 cf"
                     "00 00 00 00 00 00 00 d4 a4 24 00 51 00 d3 00 00"
                     "00 00 00 00 00 0c d3 00 00 00 00 00 00 00 4c d2"
                     "00 00 00 04 d2 00 00 00 08 d1 00 01 d1 00 01 c3"
                     "93 cd 00 0e de 00 01 a1 6d d2 00 00 00 51 dc 00"
                     "01 c6 00 00 00 02 61 62"),
                 Body()});
}

Buffer BetaFrame(BetaTrailerForm form) {
  return Joined({Hex("9d a8 62 32 66 72 61 6d 65 00 d2 00 00 00 5c cf"
                     "00 00 00 00 00 00 01 1a a4 21 00 51 00 d3 00 00"
                     "00 00 00 00 00 0c d3 00 00 00 00 00 00 00 4c d2"
                     "00 00 00 04 d2 00 00 00 08 d1 00 01 d1 00 01 c2"),
                 Hex(kBetaFilters), Body(), BetaTrailer(form)});
}

Buffer BitshuffledFrame2019() {
  return Joined({Hex("9b a8 62 32 66 72 61 6d 65 00 d2 00 00 00 40 cf"
                     "00 00 00 00 00 00 00 99 a4 24 00 50 00 d3 00 00"
                     "00 00 00 00 00 09 d3 00 00 00 00 00 00 00 31 d2"
                     "00 00 00 01 d2 00 00 00 09 d1 00 01 d1 00 01 c2"),
                 BitshuffledBody()});
}

Buffer BitshuffledBetaFrame(BetaTrailerForm form) {
  return Joined({Hex("9d a8 62 32 66 72 61 6d 65 00 d2 00 00 00 5c cf"
                     "00 00 00 00 00 00 00 f7 a4 21 00 50 00 d3 00 00"
                     "00 00 00 00 00 09 d3 00 00 00 00 00 00 00 31 d2"
                     "00 00 00 01 d2 00 00 00 09 d1 00 01 d1 00 01 c2"),
                 Hex(kBetaFilters), BitshuffledBody(), BetaTrailer(form)});
}

Buffer MakePacked(const PackedParts& parts) {
  PackedBody body;
  const uint64_t filters = body.Add(parts.reference, 4);
  const uint64_t metadata = body.Add(parts.metadata, 1);
  const uint64_t userdata = body.Add(parts.userdata, 1);
  ByteWriter table;
  for (const Buffer& data : parts.data) table.Le(body.Add(data, 4));

  ByteWriter writer;
  writer.Zeros(4);
  writer.Le(uint16_t{1});  // LZ4
  writer.Le(uint16_t{5});
  writer.Le(uint16_t{parts.reference.empty() ? uint16_t{1} : uint16_t{3 | 1 << 3}});
  writer.Le(uint16_t{0});
  writer.Le(uint32_t{0});
  writer.Le(uint64_t{parts.data.size()});
  writer.Le(body.unpacked() + table.size());
  writer.Le(body.end() + table.size());
  for (const uint64_t position : {filters, uint64_t{0}, metadata, userdata, body.end()}) {
    writer.Le(position);
  }
  writer.Append(Hex("06 02 00 00 00 00 00 00 24 08 00 00 00 00 00 00"));  // garbage
  return Joined({std::move(writer).Take(), std::move(body).Take(), std::move(table).Take()});
}

Buffer PackedFrame() {
  return MakePacked({.data = {Hex("0102030405060708"), Hex("090a0b0c")},
                     .metadata = ToVector(AsBytes("meta")),
                     .userdata = ToVector(AsBytes("user"))});
}

Buffer PackedDeltaFrame() {
  return MakePacked(
      {.data = {Hex("0000000000000708"), Hex("08080808")}, .reference = Hex("010203040506")});
}

}  // namespace cairn::test
