#include "engine/chunk/join_blocks.h"

#include <utility>

#include "absl/status/statusor.h"

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/chunk/header.h"

namespace cairn::chunk {

namespace {

constexpr int64_t kStartSize = sizeof(int32_t);

// The stored bytes of the first blocks of a chunk.
struct Blocks {
  Header header;
  std::vector<int64_t> starts;  // within `stored`
  Bytes stored;
};

// Of the block after the last one: the end of the chunk.
int64_t StartOf(Bytes chunk, const Header& header, int64_t nblock) {
  if (nblock == header.nblocks()) return header.cbytes;
  return LoadLe<int32_t>(chunk.data() + kHeaderSize + nblock * kStartSize);
}

std::optional<Blocks> FirstBlocks(Bytes chunk, int64_t nblocks) {
  const absl::StatusOr<Header> header = ParseHeader(chunk);
  if (!header.ok() || !header->extended || !header->has_blocks() || header->vlblocks ||
      header->has_dict || header->instrumented || !header->unsplit || nblocks < 1 ||
      nblocks > header->nblocks()) {
    return std::nullopt;
  }
  Blocks blocks{.header = *header, .starts = {}, .stored = {}};
  const int64_t begin = kHeaderSize + header->nblocks() * kStartSize;
  if (StartOf(chunk, *header, 0) != begin) return std::nullopt;
  for (int64_t i = 0, start = begin; i < nblocks; ++i) {
    const int64_t end = StartOf(chunk, *header, i + 1);
    if (end <= start || end > header->cbytes) return std::nullopt;
    blocks.starts.push_back(start - begin);
    start = end;
    blocks.stored = chunk.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }
  return blocks;
}

// A chunk of one short block gives its size as that of blocks.
bool FitsBehind(const Header& first, const Header& rest) {
  const bool blocksize =
      rest.blocksize == first.blocksize || (rest.nblocks() == 1 && rest.nbytes < first.blocksize);
  return blocksize && rest.version == first.version && rest.format_code == first.format_code &&
         rest.typesize == first.typesize && rest.filters == first.filters &&
         rest.codec_id == first.codec_id && rest.codec_meta == first.codec_meta;
}

}  // namespace

std::optional<std::vector<std::byte>> JoinBlocks(Bytes chunk, int64_t nblocks, Bytes rest) {
  const absl::StatusOr<Header> last_header = ParseHeader(rest);
  if (!last_header.ok()) return std::nullopt;
  const std::optional<Blocks> first = FirstBlocks(chunk, nblocks);
  const std::optional<Blocks> last = FirstBlocks(rest, last_header->nblocks());
  if (!first.has_value() || !last.has_value() || !FitsBehind(first->header, last->header)) {
    return std::nullopt;
  }
  const int64_t kept = nblocks * first->header.blocksize;
  const int64_t nbytes = kept + last->header.nbytes;
  const int64_t begin =
      kHeaderSize + (nblocks + static_cast<int64_t>(last->starts.size())) * kStartSize;
  const int64_t middle = begin + std::ssize(first->stored);
  const int64_t cbytes = middle + std::ssize(last->stored);
  if (kept > first->header.nbytes || nbytes > kMaxChunkBytes || cbytes > INT32_MAX) {
    return std::nullopt;
  }
  Header header = first->header;
  header.nbytes = static_cast<int32_t>(nbytes);
  header.cbytes = static_cast<int32_t>(cbytes);
  std::vector<std::byte> out(static_cast<size_t>(cbytes));
  StoreHeader(header, out);
  std::byte* to = out.data() + kHeaderSize;
  for (const auto& [blocks, shift] : {std::pair(&*first, begin), std::pair(&*last, middle)}) {
    for (const int64_t start : blocks->starts) {
      StoreLe(to, static_cast<uint32_t>(shift + start));
      to += kStartSize;
    }
    CopyBytes(blocks->stored, MutableBytes(out).subspan(static_cast<size_t>(shift)));
  }
  return out;
}

}  // namespace cairn::chunk
