// The input is a byte of choices and the entries of an index, 8 bytes each, of a frame whose chunks
// lie at known places. Entries may lead anywhere, several to one chunk.

#include <vector>

#include "engine/base/bytes.h"
#include "fuzz/frame_parts.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"
#include "fuzz/read_all.h"

namespace cairn::fuzz {
namespace {

constexpr int32_t kTypesize = 4;
constexpr int32_t kChunksize = 64;

// At 0, 96 and 192 whole chunks, stored; at 288 a compressed one of half the size.
std::vector<std::byte> MakeChunks() {
  std::vector<std::byte> chunks;
  std::vector<std::byte> payload(kChunksize);
  for (uint8_t i = 0; i < 3; ++i) {
    for (size_t k = 0; k < payload.size(); ++k) payload[k] = static_cast<std::byte>(i * 64 + k);
    const std::vector<std::byte> chunk = MakeChunk(payload, kTypesize, false);
    chunks.insert(chunks.end(), chunk.begin(), chunk.end());
  }
  const std::vector<std::byte> last =
      MakeChunk(std::vector<std::byte>(kChunksize / 2, std::byte{7}), kTypesize, true);
  chunks.insert(chunks.end(), last.begin(), last.end());
  return chunks;
}

void Read(Input input) {
  const auto choices = input.Number<uint8_t>();
  const bool variable = (choices & 1) != 0;
  const bool short_last = (choices & 2) != 0;
  const bool compressed = (choices & 4) != 0;
  const std::vector<std::byte> entries = ToVector(input.rest());
  const auto nchunks = static_cast<int64_t>(entries.size() / sizeof(int64_t));

  format::FrameHeader header;
  header.typesize = kTypesize;
  header.chunksize = variable ? format::kChunksizeVariable : kChunksize;
  header.nbytes = nchunks * kChunksize - (short_last && nchunks > 0 ? kChunksize / 2 : 0);
  constexpr int32_t kIndexBlock = 16384;
  const std::vector<std::byte> index = MakeChunk(entries, sizeof(int64_t), compressed, kIndexBlock);
  ReadFrame(JoinFrame(header, MakeChunks(), index));
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::Input(data, size));
  return 0;
}
