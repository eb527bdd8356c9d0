#include "engine/chunk/join_blocks.h"

#include <algorithm>

#include "absl/status/statusor.h"

#include "engine/base/bytes.h"
#include "engine/base/endian.h"

namespace cairn::chunk {

namespace {

// Returns the start of a block. For the block after the last one, returns the end of the chunk.
int64_t StartOf(Bytes chunk, const Header& header, int64_t nblock) {
  if (nblock == header.nblocks()) return header.cbytes;
  return LoadLe<int32_t>(chunk.data() + JoinedBlocks::HeadSize(nblock));
}

bool MayBeJoined(const Header& header) {
  return header.extended && header.has_blocks() && !header.vlblocks && !header.has_dict &&
         !header.instrumented && header.unsplit;
}

// A chunk of one short block stores the size of that block as its blocksize.
bool FitsAfter(const Header& first, const Header& next) {
  const bool blocksize =
      next.blocksize == first.blocksize || (next.nblocks() == 1 && next.nbytes < first.blocksize);
  return blocksize && next.version == first.version && next.format_code == first.format_code &&
         next.typesize == first.typesize && next.filters == first.filters &&
         next.codec_id == first.codec_id && next.codec_meta == first.codec_meta;
}

}  // namespace

std::optional<Bytes> JoinedBlocks::Add(Bytes chunk, int64_t nblocks) {
  const absl::StatusOr<Header> header = ParseHeader(chunk);
  if (!header.ok() || !MayBeJoined(*header) || nblocks < 1 || nblocks > header->nblocks()) {
    return std::nullopt;
  }
  const bool follows =
      !first_.has_value() || (FitsAfter(*first_, *header) && nbytes_ % first_->blocksize == 0);
  const int64_t begin = HeadSize(header->nblocks());
  if (!follows || StartOf(chunk, *header, 0) != begin) return std::nullopt;
  int64_t start = begin;
  for (int64_t i = 0; i < nblocks; ++i) {
    const int64_t end = StartOf(chunk, *header, i + 1);
    if (end <= start || end > header->cbytes) return std::nullopt;
    if (cbytes_ + end - begin > INT32_MAX) return std::nullopt;
    starts_.push_back(static_cast<int32_t>(cbytes_ + start - begin));
    start = end;
  }
  if (!first_.has_value()) first_ = *header;
  nbytes_ += std::min<int64_t>(nblocks * header->blocksize, header->nbytes);
  cbytes_ += start - begin;
  if (nbytes_ > kMaxChunkBytes) return std::nullopt;
  return chunk.subspan(static_cast<size_t>(begin), static_cast<size_t>(start - begin));
}

std::vector<std::byte> JoinedBlocks::Head() const {
  Header header = *first_;
  header.nbytes = static_cast<int32_t>(nbytes_);
  header.cbytes = static_cast<int32_t>(cbytes_);
  std::vector<std::byte> head(static_cast<size_t>(HeadSize(std::ssize(starts_))));
  StoreHeader(header, head);
  std::byte* to = head.data() + kHeaderSize;
  for (const int32_t start : starts_) {
    StoreLe(to, static_cast<uint32_t>(start));
    to += kStartSize;
  }
  return head;
}

std::optional<std::vector<std::byte>> JoinBlocks(Bytes chunk, int64_t nblocks, Bytes rest) {
  const absl::StatusOr<Header> last = ParseHeader(rest);
  if (!last.ok()) return std::nullopt;
  JoinedBlocks joined(nblocks + last->nblocks());
  const std::optional<Bytes> first = joined.Add(chunk, nblocks);
  const std::optional<Bytes> second =
      first.has_value() ? joined.Add(rest, last->nblocks()) : std::nullopt;
  if (!second.has_value()) return std::nullopt;
  std::vector<std::byte> out = joined.Head();
  out.insert(out.end(), first->begin(), first->end());
  out.insert(out.end(), second->begin(), second->end());
  return out;
}

}  // namespace cairn::chunk
