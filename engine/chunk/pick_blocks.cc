#include "engine/chunk/pick_blocks.h"

#include <algorithm>

#include "absl/status/statusor.h"

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/chunk/hole.h"

namespace cairn::chunk {

namespace {

constexpr int64_t kWord = sizeof(int32_t);  // of a position, and before a stream and a dictionary
constexpr size_t kPickedSizeAt = 0x0C;
constexpr size_t kLazyFlagAt = 0x1F;
constexpr std::byte kLazy{0x08};  // other bytes follow the positions
// Reading this many bytes from the page cache takes as long as one more system call.
constexpr int64_t kMaxPickedGap = 4096;

int32_t WordAt(Bytes bytes, int64_t at) { return LoadLe<int32_t>(bytes.data() + at); }

int64_t PositionsEnd(const Header& header) {
  return header.size() + kWord * int64_t{header.nblocks()};
}

bool MayBePicked(const Header& header) {
  const bool has_reference = std::ranges::find(header.filters, Filter::kDelta,
                                               &FilterStage::filter) != header.filters.end();
  // A chunk is a hole by its size and its last bytes, which would change.
  const bool may_be_hole = header.codec_id == static_cast<uint8_t>(kHoleCodec);
  return header.extended && header.has_blocks() && !header.vlblocks && !has_reference &&
         !may_be_hole;
}

// Returns the first byte after positions and dictionary, or nothing if the dictionary is damaged.
std::optional<int64_t> BlocksBegin(Bytes head, const Header& header) {
  const int64_t end = PositionsEnd(header);
  if (!header.has_dict) return end;
  const int32_t size = WordAt(head, end);
  if (size < 1 || size > kMaxDictionary) return std::nullopt;
  return end + kWord + size;
}

// Marks the blocks that hold these bytes.
std::vector<bool> BlocksOf(const Header& header, std::span<const ByteRange> needed) {
  std::vector<bool> blocks(static_cast<size_t>(header.nblocks()));
  for (const auto& [begin, end] : needed) {
    const int64_t from = std::max<int64_t>(begin, 0);
    const int64_t to = std::min<int64_t>(end, header.nbytes);
    for (int64_t at = from - from % header.blocksize; from < to && at < to;
         at += header.blocksize) {
      blocks[static_cast<size_t>(at / header.blocksize)] = true;
    }
  }
  return blocks;
}

}  // namespace

int64_t PickedBlocks::HeadSize(const Header& header) {
  return PositionsEnd(header) + (header.has_dict ? kWord : 0);
}

std::optional<PickedBlocks> PickedBlocks::Make(Bytes head, const Header& header,
                                               std::span<const ByteRange> needed) {
  if (!MayBePicked(header) || std::ssize(head) < HeadSize(header) ||
      (head[kLazyFlagAt] & kLazy) != std::byte{0}) {
    return std::nullopt;
  }
  const std::optional<int64_t> blocks_begin = BlocksBegin(head, header);
  PickedBlocks picked(header);
  if (!blocks_begin.has_value() || *blocks_begin > header.cbytes ||
      !picked.FindBlocks(head, *blocks_begin, needed)) {
    return std::nullopt;
  }
  picked.PlacePieces(*blocks_begin);
  if (picked.cbytes_ > INT32_MAX) return std::nullopt;
  return picked;
}

bool PickedBlocks::FindBlocks(Bytes head, int64_t blocks_begin, std::span<const ByteRange> needed) {
  const auto position = [&](int64_t block) { return WordAt(head, header_.size() + kWord * block); };
  const auto is_right = [&](int64_t start) {
    return start >= blocks_begin && start < header_.cbytes;
  };
  // Threads store blocks in any order. The stored bytes of a block end where another one begins.
  std::vector<int32_t> starts;
  starts.reserve(static_cast<size_t>(header_.nblocks()));
  for (int64_t i = 0; i < header_.nblocks(); ++i) {
    if (is_right(position(i))) starts.push_back(position(i));
  }
  if (!std::ranges::is_sorted(starts)) std::ranges::sort(starts);
  const std::vector<bool> is_needed = BlocksOf(header_, needed);
  for (int64_t i = 0; i < header_.nblocks(); ++i) {
    if (!is_needed[static_cast<size_t>(i)]) continue;
    const int32_t start = position(i);
    if (!is_right(start)) return false;
    const auto next = std::ranges::upper_bound(starts, start);
    blocks_.push_back(
        {.number = i, .begin = start, .end = next == starts.end() ? header_.cbytes : *next});
  }
  std::ranges::stable_sort(blocks_, {}, &Block::begin);
  return true;
}

void PickedBlocks::PlacePieces(int64_t blocks_begin) {
  cbytes_ = PositionsEnd(header_);
  const auto add = [&](int64_t begin, int64_t end) {
    if (pieces_.empty() || begin > pieces_.back().end + kMaxPickedGap) {
      pieces_.push_back({.begin = begin, .end = begin, .to = cbytes_});
    }
    PickedPiece& piece = pieces_.back();
    piece.end = std::max(piece.end, end);
    cbytes_ = piece.to + piece.size();
    return piece.to - piece.begin;
  };
  if (header_.has_dict) add(PositionsEnd(header_), blocks_begin);
  for (Block& block : blocks_) {
    const int64_t shift = add(block.begin, block.end);
    block.begin += shift;
    block.end += shift;
  }
  cbytes_ += zeros_size();
}

int64_t PickedBlocks::zeros_size() const { return kWord * StreamsOf(header_, header_.blocksize); }

bool PickedBlocks::IsComplete(Bytes chunk, const Block& block) const {
  const int64_t nbytes =
      std::min<int64_t>(header_.blocksize, header_.nbytes - block.number * header_.blocksize);
  int64_t at = block.begin;
  for (int64_t i = StreamsOf(header_, static_cast<int32_t>(nbytes)); i > 0; --i) {
    if (block.end - at < kWord) return false;
    const int32_t csize = WordAt(chunk, at);
    at += kWord + (csize < 0 ? 1 : csize);  // a run has a byte more, unless it is of zeros
    if (at > block.end) return false;
  }
  return true;
}

bool PickedBlocks::Finish(Bytes head, MutableBytes chunk) const {
  const auto zeros = static_cast<size_t>(cbytes_ - zeros_size());
  CopyBytes(head.first(static_cast<size_t>(header_.size())), chunk);
  StoreLe(chunk.data() + kPickedSizeAt, static_cast<int32_t>(cbytes_));
  std::byte* const positions = chunk.data() + header_.size();
  for (int64_t i = 0; i < header_.nblocks(); ++i) {
    StoreLe(positions + kWord * i, static_cast<int32_t>(zeros));
  }
  FillBytes(chunk.subspan(zeros), std::byte{0});
  for (const Block& block : blocks_) {
    StoreLe(positions + kWord * block.number, static_cast<int32_t>(block.begin));
  }
  return std::ranges::all_of(blocks_, [&](const Block& block) { return IsComplete(chunk, block); });
}

std::optional<std::vector<std::byte>> PickBlocks(Bytes chunk, std::span<const ByteRange> needed) {
  const absl::StatusOr<Header> header = ParseHeader(chunk);
  if (!header.ok()) return std::nullopt;
  const Bytes whole = chunk.first(static_cast<size_t>(header->cbytes));
  const std::optional<PickedBlocks> picked = PickedBlocks::Make(whole, *header, needed);
  if (!picked.has_value()) return std::nullopt;
  std::vector<std::byte> out(static_cast<size_t>(picked->cbytes()));
  for (const PickedPiece& piece : picked->pieces()) {
    CopyBytes(whole.subspan(static_cast<size_t>(piece.begin), static_cast<size_t>(piece.size())),
              MutableBytes(out).subspan(static_cast<size_t>(piece.to)));
  }
  if (!picked->Finish(whole, out)) return std::nullopt;
  return out;
}

}  // namespace cairn::chunk
