#include "engine/chunk/encoder.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_job.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/parallel.h"
#include "engine/chunk/special.h"

namespace cairn::chunk {

namespace {

// Smaller payloads are stored as they are.
constexpr size_t kMinPayload = 32;
constexpr size_t kMinBlosc1Payload = 128;

absl::Status CheckSpecial(const CompressionOptions& options, SpecialValue special, int32_t nbytes,
                          Bytes value) {
  if (nbytes < 0 || nbytes > kMaxChunkBytes) {
    return InvalidArgument("special chunk: nbytes: expected 0 to %d, got %d", kMaxChunkBytes,
                           nbytes);
  }
  const bool repeat = special == SpecialValue::kRepeat;
  if (options.format == ChunkFormat::kBlosc1) {
    return InvalidArgument("Blosc1 chunks have no special values");
  }
  if (repeat && nbytes == 0) return InvalidArgument("special chunk: nothing to repeat a value in");
  if (special == SpecialValue::kNone || repeat == value.empty()) {
    return InvalidArgument("special chunk: a value goes with repeated ones, and only with them");
  }
  const auto width = static_cast<int64_t>(value.size());
  if (repeat && (width > kMaxBlockSize || width > nbytes || nbytes % width != 0)) {
    return InvalidArgument("special chunk: a value of %d bytes cannot fill %d bytes", width,
                           nbytes);
  }
  const int32_t typesize = HeaderTypesize(options.typesize);
  if (special == SpecialValue::kNans && typesize != 4 && typesize != 8) {
    return InvalidArgument("special chunk: NaNs need a typesize of 4 or 8, got %d",
                           options.typesize);
  }
  const bool whole_items = special != SpecialValue::kNans && special != SpecialValue::kUninit;
  if (!whole_items && nbytes % typesize != 0) {
    return InvalidArgument("special chunk: size %d is not a multiple of typesize %d", nbytes,
                           typesize);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Encoder> Encoder::Make(CompressionOptions options, WorkspacePool* pool) {
  CAIRN_RETURN_IF_ERROR(CheckOptions(options));
  {
    const WorkspacePool::Lease lease = pool->Acquire();
    CAIRN_RETURN_IF_ERROR(lease->codecs.Get(options.codec, options.registry.get()).status());
  }
  filter::Pipeline pipeline;
  CAIRN_RETURN_IF_ERROR(
      pipeline.SetUp({.slots = SlotsOf(options),
                      .typesize = HeaderTypesize(options.typesize),
                      .frame_typesize = options.typesize,
                      .whole_block_bitshuffle = options.format == ChunkFormat::kBlosc1,
                      .blockshape = options.blockshape,
                      .registry = options.registry.get()}));
  return Encoder(std::move(options), std::move(pipeline), pool);
}

Header Encoder::NewHeader(int32_t nbytes) const {
  const bool blosc1 = options_.format == ChunkFormat::kBlosc1;
  Header header;
  header.version = blosc1 ? kVersionBlosc1 : kVersion;
  header.extended = !blosc1;
  header.format_code = FormatCodeOf(options_.codec);
  header.typesize = HeaderTypesize(options_.typesize);
  header.nbytes = nbytes;
  header.blocksize = ChooseBlockSize(options_, nbytes);
  header.filters = SlotsOf(options_);
  header.codec_id = static_cast<uint8_t>(options_.codec);
  header.codec_meta = options_.codec_meta;
  bool split = SplitsBlocks(options_, header.typesize, header.blocksize) &&
               header.blocksize % header.typesize == 0;
  if (blosc1) {
    split = split && header.typesize <= kMaxBlosc1Streams &&
            header.blocksize / header.typesize >= kMinBlosc1Stream;
  }
  header.unsplit = !split;
  return header;
}

absl::StatusOr<size_t> Encoder::Encode(Bytes src, MutableBytes dst, Zeros zeros) const {
  if (src.size() > kMaxChunkBytes) {
    return InvalidArgument("chunk of %d bytes: at most %d", src.size(), kMaxChunkBytes);
  }
  Header header = NewHeader(static_cast<int32_t>(src.size()));
  if (options_.before_filters == nullptr) return EncodePlain(header, src, dst, zeros);
  const WorkspacePool::Lease lease = pool_->Acquire();
  const MutableBytes made = lease->made.Get(src.size());
  CAIRN_RETURN_IF_ERROR(RunHook(header, src, made, *lease));
  return EncodePlain(header, made, dst, zeros);
}

absl::Status Encoder::RunHook(const Header& header, Bytes src, MutableBytes made,
                              Workspace& workspace) const {
  const int64_t nbytes = std::ssize(src);
  const int64_t nblocks = CeilDiv<int64_t>(nbytes, header.blocksize);
  Executor* const executor = options_.executor.get();
  return ForEachBlock(
      {.first = 0, .last = nblocks}, WorthThreads(executor, nbytes, nblocks) ? executor : nullptr,
      *pool_, workspace, [](Workspace&) { return absl::OkStatus(); },
      [&](int64_t block, Workspace&) {
        const int64_t begin = block * header.blocksize;
        const auto size = static_cast<size_t>(std::min<int64_t>(header.blocksize, nbytes - begin));
        const auto from = static_cast<size_t>(begin);
        return options_.before_filters->Run(
            {.block = block, .begin = begin, .typesize = header.typesize}, src.subspan(from, size),
            made.subspan(from, size));
      });
}

absl::StatusOr<size_t> Encoder::EncodePlain(Header header, Bytes src, MutableBytes dst,
                                            Zeros zeros) const {
  if (header.extended && zeros == Zeros::kSpecial && options_.clevel > 0 &&
      src.size() >= kMinPayload && IsRunOfZeros(src)) {
    header.special = SpecialValue::kZeros;
    return StoreWithoutBlocks(header, {}, dst);
  }
  if (options_.clevel > 0 && src.size() >= (header.extended ? kMinPayload : kMinBlosc1Payload)) {
    const size_t limit = src.size() + static_cast<size_t>(header.size());
    CAIRN_ASSIGN_OR_RETURN(const size_t size,
                           EncodeBlocks({options_, pipeline_, *pool_}, header, src, {},
                                        dst.first(std::min(limit, dst.size()))));
    if (size > 0) return size;
  }
  header.memcpyed = true;
  return StoreWithoutBlocks(header, src, dst);
}

absl::StatusOr<size_t> Encoder::EncodeVlBlocks(std::span<const Bytes> blocks,
                                               MutableBytes dst) const {
  int64_t nbytes = 0;
  for (const Bytes block : blocks) {
    if (block.empty()) return InvalidArgument("a variable block is empty");
    nbytes += static_cast<int64_t>(block.size());
    if (nbytes > kMaxChunkBytes) {
      return InvalidArgument("variable blocks: at most %d bytes in all", kMaxChunkBytes);
    }
  }
  if (blocks.empty() || blocks.size() > kMaxBlockSize) {
    return InvalidArgument("variable blocks: expected 1 to %d, got %d", kMaxBlockSize,
                           blocks.size());
  }
  if (options_.format == ChunkFormat::kBlosc1) {
    return InvalidArgument("Blosc1 chunks have no variable blocks");
  }
  Header header = NewHeader(static_cast<int32_t>(nbytes));
  header.version = kVersionVlBlocks;
  header.vlblocks = true;
  header.unsplit = true;
  header.blocksize = static_cast<int32_t>(blocks.size());
  CAIRN_ASSIGN_OR_RETURN(const size_t size,
                         EncodeBlocks({options_, pipeline_, *pool_}, header, {}, blocks,
                                      dst.first(std::min<size_t>(dst.size(), INT32_MAX))));
  if (size == 0) {
    return ResourceExhausted("chunk of %d variable blocks does not fit into %d bytes",
                             blocks.size(), dst.size());
  }
  return size;
}

absl::StatusOr<std::vector<std::byte>> Encoder::EncodeSpecial(SpecialValue special, int32_t nbytes,
                                                              Bytes value) const {
  CAIRN_RETURN_IF_ERROR(CheckSpecial(options_, special, nbytes, value));
  Header header = NewHeader(nbytes);
  // Other decoders fill block by block, so a block must hold complete values.
  const int64_t unit = value.empty() ? header.typesize : std::ssize(value);
  header.blocksize = static_cast<int32_t>(
      std::max(header.blocksize / unit * unit, std::min<int64_t>(unit, nbytes)));
  header.extended = true;
  header.version = kVersion;
  header.special = special;
  header.blocksize = std::max(header.blocksize, 1);
  std::vector<std::byte> out(kHeaderSize + value.size());
  CAIRN_RETURN_IF_ERROR(StoreWithoutBlocks(header, value, out).status());
  return out;
}

}  // namespace cairn::chunk
