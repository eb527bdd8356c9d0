#include "engine/chunk/header.h"

#include <algorithm>
#include <utility>

#include "engine/base/byte_reader.h"
#include "engine/base/status.h"

namespace cairn::chunk {

namespace {

// Bits of the flags byte (0x02).
constexpr uint8_t kShuffled = 0x01;
constexpr uint8_t kMemcpyed = 0x02;
constexpr uint8_t kBitShuffled = 0x04;
constexpr uint8_t kDelta = 0x08;
constexpr uint8_t kUnsplit = 0x10;
constexpr int kFormatCodeShift = 5;
// Both filter bits at once cannot happen in a 16-byte header: they mark the 32-byte one.
constexpr uint8_t kExtendedMarker = kShuffled | kBitShuffled;

// Bits of blosc2_flags2 (0x1E) and blosc2_flags (0x1F).
constexpr uint8_t kVlBlocks = 0x01;
constexpr uint8_t kDict = 0x01;
constexpr uint8_t kInstrumented = 0x80;
constexpr int kSpecialShift = 4;
constexpr uint8_t kSpecialMask = 0x07;

constexpr uint8_t kFormatBloscLz = 0;
constexpr uint8_t kFormatLz4 = 1;
constexpr uint8_t kFormatZlib = 3;
constexpr uint8_t kFormatZstd = 4;

uint8_t U8(Bytes bytes, size_t at) { return std::to_integer<uint8_t>(bytes[at]); }

// Reads the rest of a 32-byte header. `ext` holds the bytes from 0x10 on.
absl::Status TakeExtension(Bytes ext, Header& header) {
  for (size_t i = 0; i < header.filters.size(); ++i) {
    header.filters[i] = {static_cast<Filter>(U8(ext, i)), U8(ext, 8 + i)};
  }
  if (header.version == kVersionAlpha) header.filters[kMaxFilters - 1] = {};
  header.codec_id = U8(ext, 6);
  header.codec_meta = U8(ext, 7);
  header.vlblocks = (U8(ext, 14) & kVlBlocks) != 0;
  const uint8_t flags = U8(ext, 15);
  // C-Blosc2 3.3 may set the dictionary bit of a memcpyed chunk, whose payload has no dictionary.
  header.has_dict = (flags & kDict) != 0 && !header.memcpyed;
  header.instrumented = (flags & kInstrumented) != 0;
  const uint8_t special = (flags >> kSpecialShift) & kSpecialMask;
  if (special > static_cast<uint8_t>(SpecialValue::kUninit)) {
    return DataLoss("chunk header: special value %d is reserved", special);
  }
  header.special = static_cast<SpecialValue>(special);
  return absl::OkStatus();
}

void TakeBlosc1Filters(uint8_t flags, Header& header) {
  if (flags & kShuffled) header.filters[5] = {Filter::kShuffle, 0};
  if (flags & kBitShuffled) header.filters[5] = {Filter::kBitShuffle, 0};
  if (flags & kDelta) header.filters[4] = {Filter::kDelta, 0};
}

absl::Status CheckSpecial(const Header& header) {
  const int32_t width = header.cbytes - kHeaderSize;
  const bool repeats = header.special == SpecialValue::kRepeat;
  if (repeats &&
      (width < 1 || width > kMaxBlockSize || width > header.nbytes || header.nbytes % width != 0)) {
    return DataLoss("chunk header: a value of %d bytes cannot fill %d bytes", width, header.nbytes);
  }
  const bool items =
      header.special == SpecialValue::kNans || header.special == SpecialValue::kUninit;
  if (items && header.nbytes % header.typesize != 0) {
    return DataLoss("chunk header: nbytes %d is not a multiple of typesize %d", header.nbytes,
                    header.typesize);
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const Header& header, int64_t available) {
  if (header.typesize == 0) return DataLoss("chunk header: typesize is 0");
  if (header.nbytes < 0) return DataLoss("chunk header: nbytes is negative: %d", header.nbytes);
  if (header.blocksize <= 0 || header.blocksize > kMaxBlockSize) {
    return DataLoss("chunk header: blocksize: expected 1 to %d, got %d", kMaxBlockSize,
                    header.blocksize);
  }
  if (header.cbytes < header.size() || header.cbytes > available) {
    return DataLoss("chunk header: cbytes: expected %d to %d, got %d", header.size(), available,
                    header.cbytes);
  }
  if (header.vlblocks && (header.memcpyed || header.special != SpecialValue::kNone)) {
    return DataLoss("chunk header: variable blocks in a chunk without blocks");
  }
  if (header.memcpyed && header.special == SpecialValue::kNone &&
      header.cbytes - header.size() != header.nbytes) {
    return DataLoss("chunk header: memcpyed: %d bytes in cbytes %d", header.nbytes, header.cbytes);
  }
  return CheckSpecial(header);
}

// Sets blocksize to the size that the blocks were cut with.
void NormaliseBlockSize(Header& header) {
  if (header.nbytes == 0 || header.vlblocks) return;
  if (header.blocksize > header.nbytes) header.blocksize = header.nbytes;
  if (!header.has_blocks()) return;
  // C-Blosc2 3.3 may store the block size that the caller asked for, and cut with it rounded down
  // to whole items. No encoder of version 5 means anything else.
  if (header.version >= kVersion && header.blocksize > header.typesize) {
    header.blocksize -= header.blocksize % header.typesize;
  }
}

}  // namespace

uint8_t FormatCodeOf(Codec codec) {
  switch (codec) {
    case Codec::kBloscLz:
      return kFormatBloscLz;
    case Codec::kLz4:
    case Codec::kLz4Hc:
      return kFormatLz4;
    case Codec::kZlib:
      return kFormatZlib;
    case Codec::kZstd:
      return kFormatZstd;
    case Codec::kNdlz:
    case Codec::kZfpAccuracy:
    case Codec::kZfpPrecision:
    case Codec::kZfpRate:
    case Codec::kPco:
    case Codec::kBitpack:
    case Codec::kAuto:
      break;
  }
  return kUserFormatCode;
}

absl::StatusOr<Codec> CodecOf(const Header& header) {
  switch (header.format_code) {
    case kFormatBloscLz:
      return Codec::kBloscLz;
    case kFormatLz4:
      return header.codec_id == static_cast<uint8_t>(Codec::kLz4Hc) ? Codec::kLz4Hc : Codec::kLz4;
    case kFormatZlib:
      return Codec::kZlib;
    case kFormatZstd:
      return Codec::kZstd;
    case kUserFormatCode:
      return static_cast<Codec>(header.codec_id);
    default:
      return Unimplemented("chunk header: codec format %d is not in this build",
                           header.format_code);
  }
}

int32_t StreamsOf(const Header& header, int32_t block_nbytes) {
  const bool leftover = block_nbytes != header.blocksize;
  if (header.unsplit || leftover) return 1;
  if (header.version <= kVersionBlosc1 &&
      (header.typesize > kMaxBlosc1Streams || block_nbytes / header.typesize < kMinBlosc1Stream)) {
    return 1;
  }
  const bool beta = header.version == kVersionAlpha || header.version == kVersionBeta;
  if (beta && header.has_dict) return 1;
  return header.typesize;
}

absl::Status ParseHeader(Bytes bytes, int64_t available, Header& header) {
  ByteReader reader(bytes, "chunk header");
  header.version = reader.U8("version");
  reader.U8("versionlz");
  const uint8_t flags = reader.U8("flags");
  header.typesize = reader.U8("typesize");
  header.nbytes = reader.Le<int32_t>("nbytes");
  header.blocksize = reader.Le<int32_t>("blocksize");
  header.cbytes = reader.Le<int32_t>("cbytes");
  header.extended = (flags & kExtendedMarker) == kExtendedMarker;
  header.memcpyed = (flags & kMemcpyed) != 0;
  header.unsplit = (flags & kUnsplit) != 0;
  header.format_code = flags >> kFormatCodeShift;
  Bytes ext;
  if (header.extended) ext = reader.Take(kHeaderSize - kBlosc1HeaderSize, "filters");
  if (!reader.ok()) return reader.status();

  if (header.version == 0) return DataLoss("chunk header: version is 0");
  if (header.version > kVersionVlBlocks) {
    return Unimplemented("chunk header: version %d is newer than %d", header.version,
                         kVersionVlBlocks);
  }
  if (header.extended) {
    CAIRN_RETURN_IF_ERROR(TakeExtension(ext, header));
  } else {
    TakeBlosc1Filters(flags, header);
  }
  CAIRN_RETURN_IF_ERROR(CheckSizes(header, available));
  NormaliseBlockSize(header);
  if (int64_t{header.nblocks()} * 4 > header.cbytes - header.size()) {
    return DataLoss("chunk header: cbytes %d is too small for the positions of %d blocks",
                    header.cbytes, header.nblocks());
  }
  return absl::OkStatus();
}

absl::StatusOr<Header> ParseHeader(Bytes bytes, int64_t available) {
  absl::StatusOr<Header> header = Header();
  if (absl::Status status = ParseHeader(bytes, available, *header); !status.ok()) {
    header = std::move(status);
  }
  return header;
}

void StoreHeader(const Header& header, MutableBytes dst) {
  uint8_t flags = static_cast<uint8_t>(header.format_code << kFormatCodeShift);
  if (header.memcpyed) flags |= kMemcpyed;
  if (header.unsplit) flags |= kUnsplit;
  if (header.extended) flags |= kExtendedMarker;
  for (const FilterStage& stage : header.filters) {
    if (stage.filter == Filter::kDelta && !header.memcpyed) flags |= kDelta;
    if (stage.filter == Filter::kShuffle) flags |= header.extended ? 0 : kShuffled;
    if (stage.filter == Filter::kBitShuffle) flags |= header.extended ? 0 : kBitShuffled;
  }
  std::byte* out = dst.data();
  out[0] = std::byte{header.version};
  out[1] = std::byte{1};  // versionlz: every codec's format is still its first
  out[2] = std::byte{flags};
  out[3] = std::byte{header.typesize};
  StoreLe(out + 0x04, header.nbytes);
  StoreLe(out + 0x08, header.blocksize);
  StoreLe(out + 0x0C, header.cbytes);
  if (!header.extended) return;
  for (size_t i = 0; i < header.filters.size(); ++i) {
    out[0x10 + i] = static_cast<std::byte>(header.filters[i].filter);
    out[0x18 + i] = std::byte{header.filters[i].meta};
  }
  out[0x16] = std::byte{header.codec_id};
  out[0x17] = std::byte{header.codec_meta};
  out[0x1E] = std::byte{header.vlblocks ? kVlBlocks : uint8_t{0}};
  out[0x1F] = static_cast<std::byte>((header.has_dict ? kDict : 0) |
                                     (static_cast<int>(header.special) << kSpecialShift));
}

bool HoldsNumbers(const Header& header) {
  if (!CodesNumbers(static_cast<Codec>(header.codec_id))) return false;
  return std::ranges::all_of(header.filters, [](const FilterStage& stage) {
    return stage.filter == Filter::kNone || stage.filter == Filter::kTruncPrec ||
           stage.filter == Filter::kIntTrunc;
  });
}

uint8_t ParameterOf(const Header& header) {
  const bool is_auto = header.codec_id == static_cast<uint8_t>(Codec::kAuto);
  return is_auto ? header.codec_meta & (kAllPages - 1) : header.codec_meta;
}

bool DecodesSingleItems(const Header& header) {
  if (!HoldsNumbers(header)) return false;
  const auto codec = static_cast<Codec>(header.codec_id);
  return codec == Codec::kBitpack ||
         (codec == Codec::kAuto && (header.codec_meta & kAllSingle) != 0);
}

}  // namespace cairn::chunk
