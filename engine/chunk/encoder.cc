#include "engine/chunk/encoder.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/blocksize.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/parallel.h"
#include "engine/codec/dictionary.h"

namespace cairn::chunk {

namespace {

// Smaller payloads are stored as they are.
constexpr size_t kMinPayload = 32;
constexpr size_t kMinBlosc1Payload = 128;
constexpr size_t kMinDictionary = 256;
constexpr size_t kMinSamples = 8;

void StoreInt32(MutableBytes dst, size_t at, size_t value) {
  StoreLe<uint32_t>(dst.data() + at, static_cast<uint32_t>(value));
}

}  // namespace

// One chunk with blocks on its way.
class Encoder::Job {
 public:
  Job(const Encoder& encoder, const Header& header, Bytes src, std::span<const Bytes> vlblocks)
      : encoder_(encoder), header_(header), src_(src), vlblocks_(vlblocks) {}

  // Lays out the whole chunk in dst; returns its size, or 0 when dst is too small.
  absl::StatusOr<size_t> Run(MutableBytes dst);

 private:
  class InOrder;
  class InSlots;

  size_t nblocks() const { return static_cast<size_t>(header_.nblocks()); }
  Bytes Block(size_t i) const;
  size_t StreamsOf(Bytes block) const;
  // Most that a coded block may take.
  size_t RoomFor(Bytes block) const { return block.size() + 4 * StreamsOf(block); }

  absl::Status TrainDictionary(Workspace& workspace);
  absl::Status Prepare(Workspace& workspace) const;
  // The block behind the filters: in the workspace, or the block itself where there are none.
  absl::StatusOr<Bytes> Filtered(size_t i, Workspace& workspace) const;
  // Writes the block and returns its size, or 0 when dst is too small.
  absl::StatusOr<size_t> EncodeBlock(size_t i, MutableBytes dst, Workspace& workspace) const;
  absl::StatusOr<size_t> EncodeStream(Bytes stream, MutableBytes dst, Workspace& workspace) const;
  absl::StatusOr<size_t> CompressOrCopy(Bytes stream, MutableBytes dst, Workspace& workspace) const;
  absl::StatusOr<size_t> RunInSlots(MutableBytes dst, size_t begin);

  const Encoder& encoder_;
  Header header_;
  Bytes src_;
  std::span<const Bytes> vlblocks_;
  std::vector<std::byte> dict_;
};

Bytes Encoder::Job::Block(size_t i) const {
  if (header_.vlblocks) return vlblocks_[i];
  const auto size = static_cast<size_t>(header_.blocksize);
  return src_.subspan(i * size, std::min(size, src_.size() - i * size));
}

size_t Encoder::Job::StreamsOf(Bytes block) const {
  const bool leftover = block.size() != static_cast<size_t>(header_.blocksize);
  return header_.unsplit || leftover ? 1 : header_.typesize;
}

absl::StatusOr<Bytes> Encoder::Job::Filtered(size_t i, Workspace& workspace) const {
  const Bytes block = Block(i);
  const filter::Pipeline& pipeline = encoder_.pipeline_;
  if (pipeline.active() == 0) return block;
  const bool is_reference = i == 0 || header_.vlblocks;
  const MutableBytes out = workspace.filtered.Get(block.size());
  const MutableBytes scratch =
      pipeline.active() > 1 ? workspace.scratch.Get(block.size()) : MutableBytes();
  CAIRN_RETURN_IF_ERROR(pipeline.Forward(block, is_reference ? Bytes() : Block(0), out, scratch));
  return Bytes(out);
}

absl::Status Encoder::Job::TrainDictionary(Workspace& workspace) {
  const size_t nbytes = static_cast<size_t>(header_.nbytes);
  const size_t capacity = std::min<size_t>(kMaxDictionary, nbytes / 20);
  std::vector<size_t> samples;
  std::vector<std::byte> filtered;
  if (capacity < kMinDictionary || (header_.vlblocks && nblocks() < kMinSamples)) {
    return absl::OkStatus();
  }
  filtered.reserve(nbytes);
  for (size_t i = 0; i < nblocks(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const Bytes block, Filtered(i, workspace));
    filtered.insert(filtered.end(), block.begin(), block.end());
    if (header_.vlblocks) samples.push_back(block.size());
  }
  if (!header_.vlblocks) {
    const size_t streams = nblocks() * (header_.unsplit ? 1 : header_.typesize);
    const size_t count = std::max(kMinSamples, streams);
    samples.assign(count, nbytes / count / 16);
  }
  size_t sampled = 0;
  for (const size_t size : samples) sampled += size;
  if (sampled == 0) return absl::OkStatus();
  const Bytes content = Bytes(filtered).first(sampled);
  dict_ = encoder_.options_.codec == Codec::kZstd
              ? codec::TrainZstdDictionary(content, samples, capacity)
              : ToVector(content.first(std::min(sampled, capacity)));
  header_.has_dict = !dict_.empty();
  return absl::OkStatus();
}

absl::Status Encoder::Job::Prepare(Workspace& workspace) const {
  const CompressionOptions& options = encoder_.options_;
  CAIRN_ASSIGN_OR_RETURN(workspace.codec, workspace.codecs.Get(options.codec, options.registry));
  workspace.codec->UseDictionary(dict_);
  return absl::OkStatus();
}

absl::StatusOr<size_t> Encoder::Job::CompressOrCopy(Bytes stream, MutableBytes dst,
                                                    Workspace& workspace) const {
  // The codec always gets the same room, or its output would depend on what came before.
  const bool direct = dst.size() >= stream.size();
  const MutableBytes target =
      direct ? dst.first(stream.size()) : workspace.stream.Get(stream.size());
  size_t size = 0;
  if (encoder_.options_.clevel > 0) {
    const PluginCall call{.typesize = header_.typesize,
                          .clevel = encoder_.options_.clevel,
                          .meta = header_.codec_meta};
    CAIRN_ASSIGN_OR_RETURN(size, workspace.codec->Compress(stream, target, call));
  }
  // A stream that seems compressed to its own size would be taken for a raw one.
  if (size == 0 || size >= stream.size()) {
    if (!direct) return 0;
    CopyBytes(stream, dst);
    return stream.size();
  }
  if (!direct) {
    if (size > dst.size()) return 0;
    CopyBytes(target.first(size), dst);
  }
  return size;
}

absl::StatusOr<size_t> Encoder::Job::EncodeStream(Bytes stream, MutableBytes dst,
                                                  Workspace& workspace) const {
  if (dst.size() < 4) return 0;
  if (header_.extended && !header_.vlblocks && IsRun(stream)) {
    const auto value = std::to_integer<uint32_t>(stream[0]);
    StoreLe<uint32_t>(dst.data(), 0 - value);
    if (value == 0) return 4;
    if (dst.size() < 5) return 0;
    dst[4] = std::byte{1};
    return 5;
  }
  CAIRN_ASSIGN_OR_RETURN(const size_t size, CompressOrCopy(stream, dst.subspan(4), workspace));
  if (size == 0) return 0;
  // A variable block says its decoded size: its stored one follows from the positions.
  StoreInt32(dst, 0, header_.vlblocks ? stream.size() : size);
  return size + 4;
}

absl::StatusOr<size_t> Encoder::Job::EncodeBlock(size_t i, MutableBytes dst,
                                                 Workspace& workspace) const {
  CAIRN_ASSIGN_OR_RETURN(const Bytes filtered, Filtered(i, workspace));
  const size_t nstreams = StreamsOf(filtered);
  const size_t size = filtered.size() / nstreams;
  size_t done = 0;
  for (size_t k = 0; k < nstreams; ++k) {
    CAIRN_ASSIGN_OR_RETURN(const size_t stored, EncodeStream(filtered.subspan(k * size, size),
                                                             dst.subspan(done), workspace));
    if (stored == 0) return 0;
    done += stored;
  }
  return done;
}

// Writes the blocks one behind the other where they belong; runs in one thread.
class Encoder::Job::InOrder final : public BlockTask {
 public:
  InOrder(const Job& job, MutableBytes dst, size_t begin) : job_(job), dst_(dst), end_(begin) {}

  absl::Status Prepare(Workspace& workspace) const override { return job_.Prepare(workspace); }

  absl::Status Run(int64_t block, Workspace& workspace) override {
    if (full_) return absl::OkStatus();
    const auto i = static_cast<size_t>(block);
    CAIRN_ASSIGN_OR_RETURN(const size_t size, job_.EncodeBlock(i, dst_.subspan(end_), workspace));
    StoreInt32(dst_, static_cast<size_t>(job_.header_.size()) + 4 * i, end_);
    end_ += size;
    full_ = size == 0;
    return absl::OkStatus();
  }

  // The size of the chunk, 0 when it did not fit.
  size_t result() const { return full_ ? 0 : end_; }

 private:
  const Job& job_;
  MutableBytes dst_;
  size_t end_;
  bool full_ = false;
};

// Writes each block into a slot that has room for the worst; runs in any thread.
class Encoder::Job::InSlots final : public BlockTask {
 public:
  InSlots(const Job& job, MutableBytes slots, size_t slot_size)
      : job_(job), slots_(slots), slot_size_(slot_size), sizes_(job.nblocks()) {}

  absl::Status Prepare(Workspace& workspace) const override { return job_.Prepare(workspace); }

  absl::Status Run(int64_t block, Workspace& workspace) override {
    const auto i = static_cast<size_t>(block);
    CAIRN_ASSIGN_OR_RETURN(
        sizes_[i], job_.EncodeBlock(i, slots_.subspan(i * slot_size_, job_.RoomFor(job_.Block(i))),
                                    workspace));
    return absl::OkStatus();
  }

  Bytes Coded(size_t i) const { return slots_.subspan(i * slot_size_, sizes_[i]); }

 private:
  const Job& job_;
  MutableBytes slots_;
  size_t slot_size_;
  std::vector<size_t> sizes_;
};

absl::StatusOr<size_t> Encoder::Job::RunInSlots(MutableBytes dst, size_t begin) {
  const WorkspacePool::Lease lease = encoder_.pool_->Acquire();
  const size_t slot_size = RoomFor(Block(0));
  InSlots task(*this, lease->block.Get(slot_size * nblocks()), slot_size);
  CAIRN_RETURN_IF_ERROR(ForEachBlock({.first = 0, .last = header_.nblocks()},
                                     encoder_.options_.executor, *encoder_.pool_, task));
  size_t end = begin;
  for (size_t i = 0; i < nblocks(); ++i) {
    const Bytes coded = task.Coded(i);
    if (coded.size() > dst.size() - end) return 0;
    StoreInt32(dst, static_cast<size_t>(header_.size()) + 4 * i, end);
    CopyBytes(coded, dst.subspan(end));
    end += coded.size();
  }
  return end;
}

absl::StatusOr<size_t> Encoder::Job::Run(MutableBytes dst) {
  if (encoder_.options_.use_dict) {
    const WorkspacePool::Lease lease = encoder_.pool_->Acquire();
    CAIRN_RETURN_IF_ERROR(TrainDictionary(*lease));
  }
  size_t begin = static_cast<size_t>(header_.size()) + 4 * nblocks();
  if (begin + (dict_.empty() ? 0 : 4 + dict_.size()) > dst.size()) return 0;
  if (!dict_.empty()) {
    StoreInt32(dst, begin, dict_.size());
    CopyBytes(dict_, dst.subspan(begin + 4));
    begin += 4 + dict_.size();
  }
  size_t size = 0;
  // Variable blocks may differ so much that slots for all would be a waste.
  if (!header_.vlblocks &&
      WorthThreads(encoder_.options_.executor, header_.nbytes, header_.nblocks())) {
    CAIRN_ASSIGN_OR_RETURN(size, RunInSlots(dst, begin));
  } else {
    InOrder task(*this, dst, begin);
    CAIRN_RETURN_IF_ERROR(
        ForEachBlock({.first = 0, .last = header_.nblocks()}, nullptr, *encoder_.pool_, task));
    size = task.result();
  }
  header_.cbytes = static_cast<int32_t>(size);
  if (size > 0) StoreHeader(header_, dst);
  return size;
}

absl::StatusOr<Encoder> Encoder::Make(const CompressionOptions& options, WorkspacePool* pool) {
  CAIRN_RETURN_IF_ERROR(CheckOptions(options));
  {
    const WorkspacePool::Lease lease = pool->Acquire();
    CAIRN_RETURN_IF_ERROR(lease->codecs.Get(options.codec, options.registry).status());
  }
  CAIRN_ASSIGN_OR_RETURN(
      filter::Pipeline pipeline,
      filter::Pipeline::Make({.slots = SlotsOf(options),
                              .typesize = HeaderTypesize(options.typesize),
                              .frame_typesize = options.typesize,
                              .whole_block_bitshuffle = options.format == ChunkFormat::kBlosc1,
                              .blockshape = {},
                              .registry = options.registry}));
  return Encoder(options, std::move(pipeline), pool);
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

absl::StatusOr<size_t> Encoder::StoreCopy(Bytes src, Header header, MutableBytes dst) const {
  const size_t size = src.size() + static_cast<size_t>(header.size());
  if (size > dst.size()) {
    return ResourceExhausted("chunk of %d bytes does not fit into %d", size, dst.size());
  }
  header.memcpyed = true;
  header.has_dict = false;
  header.cbytes = static_cast<int32_t>(size);
  StoreHeader(header, dst);
  CopyBytes(src, dst.subspan(static_cast<size_t>(header.size())));
  return size;
}

absl::StatusOr<size_t> Encoder::Encode(Bytes src, MutableBytes dst, Zeros zeros) const {
  if (src.size() > kMaxChunkBytes) {
    return InvalidArgument("chunk of %d bytes: at most %d", src.size(), kMaxChunkBytes);
  }
  Header header = NewHeader(static_cast<int32_t>(src.size()));
  if (options_.clevel == 0 || src.size() < (header.extended ? kMinPayload : kMinBlosc1Payload)) {
    return StoreCopy(src, header, dst);
  }
  if (header.extended && zeros == Zeros::kSpecial && src[0] == std::byte{0} && IsRun(src)) {
    if (dst.size() < kHeaderSize) {
      return ResourceExhausted("chunk of %d bytes does not fit into %d", kHeaderSize, dst.size());
    }
    header.special = SpecialValue::kZeros;
    header.cbytes = kHeaderSize;
    StoreHeader(header, dst);
    return kHeaderSize;
  }
  const size_t limit = src.size() + static_cast<size_t>(header.size());
  Job job(*this, header, src, {});
  CAIRN_ASSIGN_OR_RETURN(const size_t size, job.Run(dst.first(std::min(limit, dst.size()))));
  return size > 0 ? absl::StatusOr<size_t>(size) : StoreCopy(src, header, dst);
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
  Job job(*this, header, {}, blocks);
  const MutableBytes room = dst.first(std::min<size_t>(dst.size(), INT32_MAX));
  CAIRN_ASSIGN_OR_RETURN(const size_t size, job.Run(room));
  if (size == 0) {
    return ResourceExhausted("chunk of %d variable blocks does not fit into %d bytes",
                             blocks.size(), dst.size());
  }
  return size;
}

absl::StatusOr<std::vector<std::byte>> Encoder::EncodeSpecial(SpecialValue special, int32_t nbytes,
                                                              Bytes value) const {
  if (nbytes < 0 || nbytes > kMaxChunkBytes) {
    return InvalidArgument("special chunk: nbytes: expected 0 to %d, got %d", kMaxChunkBytes,
                           nbytes);
  }
  const bool repeat = special == SpecialValue::kRepeat;
  if (options_.format == ChunkFormat::kBlosc1) {
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
  Header header = NewHeader(nbytes);
  if (special == SpecialValue::kNans && header.typesize != 4 && header.typesize != 8) {
    return InvalidArgument("special chunk: NaNs need a typesize of 4 or 8, got %d",
                           options_.typesize);
  }
  const bool whole_items = special != SpecialValue::kNans && special != SpecialValue::kUninit;
  if (!whole_items && nbytes % header.typesize != 0) {
    return InvalidArgument("special chunk: %d bytes are no multiple of typesize %d", nbytes,
                           header.typesize);
  }
  // Other decoders fill block by block, so a block must hold whole values.
  const int64_t unit = repeat ? width : header.typesize;
  header.blocksize = static_cast<int32_t>(
      std::max(header.blocksize / unit * unit, std::min<int64_t>(unit, nbytes)));
  header.extended = true;
  header.version = kVersion;
  header.special = special;
  header.blocksize = std::max(header.blocksize, 1);
  header.cbytes = kHeaderSize + static_cast<int32_t>(value.size());
  std::vector<std::byte> out(static_cast<size_t>(header.cbytes));
  StoreHeader(header, out);
  CopyBytes(value, MutableBytes(out).subspan(kHeaderSize));
  return out;
}

}  // namespace cairn::chunk
