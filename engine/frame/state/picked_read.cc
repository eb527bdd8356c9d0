#include "engine/frame/state/picked_read.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/chunk/pick_blocks.h"

namespace cairn::frame {

namespace {

// The first read has the header and the positions of up to 1,000 blocks.
constexpr int64_t kFirstRead = 4096;
// Reading fewer bytes takes no longer than finding out what can be left out.
constexpr int64_t kMinPicked = int64_t{32} << 10;
// For each byte of the head, the plan takes up to eight bytes of memory.
constexpr int64_t kMinBytesOfHead = 16;

// A chunk whose first bytes were read.
class BegunChunk {
 public:
  BegunChunk(Bytes first, const chunk::Header& header, ReadOfChunk read)
      : first_(first), header_(header), read_(read) {}

  absl::StatusOr<Chunk> ReadWhole() const {
    const auto bytes =
        std::make_shared_for_overwrite<std::byte[]>(static_cast<size_t>(header_.cbytes));
    const MutableBytes whole(bytes.get(), static_cast<size_t>(header_.cbytes));
    CAIRN_RETURN_IF_ERROR(Read(0, whole));
    return Chunk(whole, bytes);
  }

  // Reads the blocks alone. Returns nothing if they cannot be, or if that saves little.
  absl::StatusOr<std::optional<Chunk>> ReadBlocks(std::span<const ByteRange> needed) const {
    const int64_t head_size = chunk::PickedBlocks::HeadSize(header_);
    if (header_.cbytes < kMinPicked || head_size > header_.cbytes / kMinBytesOfHead) {
      return std::nullopt;
    }
    std::vector<std::byte> longer;
    Bytes head = first_;
    if (head_size > std::ssize(first_)) {
      longer.resize(static_cast<size_t>(head_size));
      CAIRN_RETURN_IF_ERROR(Read(0, longer));
      head = longer;
    }
    const std::optional<chunk::PickedBlocks> picked =
        chunk::PickedBlocks::Make(head, header_, needed);
    if (!picked.has_value() || picked->cbytes() > header_.cbytes / 4 * 3) return std::nullopt;
    const auto size = static_cast<size_t>(picked->cbytes());
    const auto bytes = std::make_shared_for_overwrite<std::byte[]>(size);
    const MutableBytes chunk(bytes.get(), size);
    for (const chunk::PickedPiece& piece : picked->pieces()) {
      CAIRN_RETURN_IF_ERROR(Read(piece.begin, chunk.subspan(static_cast<size_t>(piece.to),
                                                            static_cast<size_t>(piece.size()))));
    }
    if (!picked->Finish(head, chunk)) return std::nullopt;
    return Chunk(chunk, bytes);
  }

 private:
  // Reads bytes of the chunk, except those that were read first.
  absl::Status Read(int64_t begin, MutableBytes dst) const {
    const int64_t there = std::clamp<int64_t>(std::ssize(first_) - begin, 0, std::ssize(dst));
    if (there > 0) {
      CopyBytes(first_.subspan(static_cast<size_t>(begin), static_cast<size_t>(there)), dst);
    }
    if (there == std::ssize(dst)) return absl::OkStatus();
    return read_(begin + there, dst.subspan(static_cast<size_t>(there)));
  }

  const Bytes first_;
  const chunk::Header header_;
  const ReadOfChunk read_;
};

}  // namespace

absl::StatusOr<Chunk> ReadPicked(int64_t available, std::span<const ByteRange> needed,
                                 ReadOfChunk read) {
  std::array<std::byte, kFirstRead> buffer;
  const MutableBytes first(buffer.data(), static_cast<size_t>(std::min(available, kFirstRead)));
  CAIRN_RETURN_IF_ERROR(read(0, first));
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(first, available));
  const BegunChunk chunk(first, header, read);
  CAIRN_ASSIGN_OR_RETURN(std::optional<Chunk> picked, chunk.ReadBlocks(needed));
  return picked.has_value() ? *std::move(picked) : chunk.ReadWhole();
}

}  // namespace cairn::frame
