#include "engine/frame/repair/chunk_detector.h"

#include <algorithm>

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/b2nd.h"

namespace cairn::frame {

namespace {

// The decoded size of one piece of a large chunk, unless a block is larger.
constexpr int64_t kPiece = 8 << 20;
// Stored bytes must justify more memory than this. Codecs reach ratios of a few thousand.
constexpr int64_t kFreeMemory = 16 << 20;
constexpr int64_t kMaxRatio = 4096;

constexpr uint8_t kFirstUserId = 160;
constexpr size_t kFlags2At = 0x1E;
constexpr size_t kFlagsAt = 0x1F;
// Bits of blosc2_flags2 and blosc2_flags that mean nothing, or nothing in a file.
constexpr std::byte kUnusedFlags2{0xFE};
constexpr std::byte kUnusedFlags{0x0C};

bool IsKnownFilter(Filter filter, const Registry* registry) {
  switch (filter) {
    case Filter::kNone:
    case Filter::kShuffle:
    case Filter::kBitShuffle:
    case Filter::kDelta:
    case Filter::kTruncPrec:
    case Filter::kNdCell:
    case Filter::kNdMean:
    case Filter::kByteDeltaBuggy:
    case Filter::kByteDelta:
    case Filter::kIntTrunc:
      return true;
  }
  const auto id = static_cast<uint8_t>(filter);
  return id >= kFirstUserId && registry != nullptr && registry->filter(id) != nullptr;
}

// Returns true if the sizes in a header can be true. ParseHeader checks them too, but formats a
// message for each of the millions of offsets where they cannot.
bool HasSizes(Bytes head, int64_t available) {
  const auto nbytes = static_cast<int32_t>(LoadLe<uint32_t>(head.data() + 0x04));
  const auto blocksize = static_cast<int32_t>(LoadLe<uint32_t>(head.data() + 0x08));
  const auto cbytes = static_cast<int32_t>(LoadLe<uint32_t>(head.data() + 0x0C));
  return nbytes > 0 && blocksize > 0 && blocksize <= chunk::kMaxBlockSize &&
         cbytes >= chunk::kBlosc1HeaderSize && cbytes <= available;
}

// Returns true if a special chunk is what Blosc2's constructors of such chunks make.
bool IsPlainSpecial(const chunk::Header& header) {
  if (header.special == SpecialValue::kRepeat) return true;
  if (header.cbytes != chunk::kHeaderSize) return false;
  return header.special != SpecialValue::kNans || header.typesize == 4 || header.typesize == 8;
}

}  // namespace

absl::Status CheckMemory(int64_t wanted, int64_t cbytes) {
  if (wanted <= std::max(kFreeMemory, cbytes * kMaxRatio)) return absl::OkStatus();
  return ResourceExhausted("%d bytes of memory for %d stored ones", wanted, cbytes);
}

ChunkDetector::ChunkDetector(const FrameContext& env, const format::FrameHeader* frame)
    : env_(env), context_(env.MakeDecodeContext()) {
  if (frame == nullptr) return;
  context_.frame_typesize = frame->typesize;
  absl::StatusOr<ArrayInfo> array = format::FindB2nd(frame->metalayers);
  if (!array.ok()) return;
  array_ = *std::move(array);
  context_.blockshape = array_->blockshape;
}

std::optional<chunk::Header> ChunkDetector::Peek(Bytes head, int64_t available) const {
  constexpr std::byte kVersionLz{1};
  if (head.size() < chunk::kBlosc1HeaderSize) return std::nullopt;
  const auto version = std::to_integer<uint8_t>(head[0]);
  if (version < chunk::kVersionBlosc1 || version > chunk::kVersionVlBlocks) return std::nullopt;
  const bool user_codec = std::to_integer<uint8_t>(head[2]) >> 5 == chunk::kUserFormatCode;
  if (head[1] != kVersionLz && !user_codec) return std::nullopt;
  if (!HasSizes(head, available)) return std::nullopt;
  absl::StatusOr<chunk::Header> header = chunk::ParseHeader(head, available);
  if (!header.ok() || header->instrumented) return std::nullopt;
  if (header->vlblocks != (version == chunk::kVersionVlBlocks)) return std::nullopt;
  if (header->extended) {
    const auto is_known = [&](const FilterStage& stage) {
      return IsKnownFilter(stage.filter, env_.registry.get());
    };
    if (version == chunk::kVersionBlosc1 || !std::ranges::all_of(header->filters, is_known) ||
        (head[kFlags2At] & kUnusedFlags2) != std::byte{0} ||
        (head[kFlagsAt] & kUnusedFlags) != std::byte{0}) {
      return std::nullopt;
    }
  } else if (user_codec) {
    return std::nullopt;
  }
  if (header->special != SpecialValue::kNone && !IsPlainSpecial(*header)) return std::nullopt;
  // Without blocks nothing else depends on the blocksize field, so it must be plausible itself.
  const auto blocksize = static_cast<int32_t>(LoadLe<uint32_t>(head.data() + 0x08));
  if (!header->has_blocks() && blocksize > header->nbytes) return std::nullopt;
  return *header;
}

absl::Status ChunkDetector::TryDecoding(Bytes chunk) {
  chunk::Decoder decoder;
  CAIRN_RETURN_IF_ERROR(decoder.Open(chunk, context_));
  if (decoder.nbytes() > env_.limits.max_chunk_nbytes) {
    return ResourceExhausted("%d bytes pass the limit of %d", decoder.nbytes(),
                             env_.limits.max_chunk_nbytes);
  }
  // Memcpyed chunks and special values have nothing that could fail.
  if (!decoder.header().has_blocks()) return absl::OkStatus();
  for (int64_t begin = 0; begin < decoder.nbytes();) {
    CAIRN_ASSIGN_OR_RETURN(const int64_t end, decoder.PieceEnd(begin, kPiece));
    const int64_t size = end - begin;
    CAIRN_RETURN_IF_ERROR(CheckMemory(size, decoder.header().cbytes));
    decoded_ += size;
    CAIRN_RETURN_IF_ERROR(decoder.DecodeRange(begin, scratch_.Get(static_cast<size_t>(size))));
    begin = end;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::byte>> ChunkDetector::Decode(Bytes chunk, int64_t most) const {
  chunk::Decoder decoder;
  CAIRN_RETURN_IF_ERROR(decoder.Open(chunk, context_));
  const int64_t size = std::min<int64_t>(decoder.nbytes(), most);
  CAIRN_RETURN_IF_ERROR(CheckMemory(size, decoder.header().cbytes));
  std::vector<std::byte> items(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(decoder.DecodeRange(0, items));
  return items;
}

}  // namespace cairn::frame
