#include "engine/chunk/decoder.h"

#include <algorithm>
#include <optional>

#include "engine/base/byte_reader.h"
#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/hole.h"
#include "engine/chunk/special.h"

namespace cairn::chunk {

namespace {

filter::PipelineParams PipelineOf(const Header& header, const DecodeContext& context) {
  return {
      .slots = header.filters,
      .typesize = header.typesize,
      .frame_typesize = context.frame_typesize,
      .whole_block_bitshuffle = context.whole_block_bitshuffle || header.version <= kVersionAlpha,
      .blockshape = context.blockshape,
      .registry = context.registry};
}

// Turns kInvalidArgument into kDataLoss: a parameter that a caller could not have is damage if a
// header has it.
absl::Status HeaderError(const absl::Status& status) {
  return Annotate(
      absl::IsInvalidArgument(status) ? WithCode(absl::StatusCode::kDataLoss, status) : status,
      "chunk header");
}

}  // namespace

absl::Status Decoder::Open(Bytes chunk, const DecodeContext& context) {
  CAIRN_RETURN_IF_ERROR(ParseHeader(chunk, static_cast<int64_t>(chunk.size()), header_));
  return OpenBody(chunk, context);
}

absl::Status Decoder::Open(Bytes chunk, const Header& header, const DecodeContext& context) {
  header_ = header;
  return OpenBody(chunk, context);
}

absl::Status Decoder::OpenBody(Bytes chunk, const DecodeContext& context) {
  chunk_ = chunk.first(static_cast<size_t>(header_.cbytes));
  context_ = context;
  if (!header_.has_blocks()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(codec_, CodecOf(header_));
  if (!header_.instrumented) {
    if (absl::Status status = pipeline_.SetUp(PipelineOf(header_, context_)); !status.ok()) {
      return HeaderError(status);
    }
  }
  blocks_begin_ = header_.size() + int64_t{4} * header_.nblocks();
  if (header_.has_dict) CAIRN_RETURN_IF_ERROR(ReadDictionary());
  return header_.vlblocks ? ReadVlBlocks() : absl::OkStatus();
}

absl::Status Decoder::ReadDictionary() {
  ByteReader reader(chunk_, "chunk dictionary");
  reader.Seek(static_cast<uint64_t>(blocks_begin_), "start");
  const auto size = reader.Le<int32_t>("size");
  if (reader.ok() && (size < 1 || size > kMaxDictionary)) {
    reader.Fail("size", "expected 1 to %d, got %d", kMaxDictionary, size);
  }
  dict_ = reader.Take(static_cast<uint64_t>(size), "content");
  blocks_begin_ = static_cast<int64_t>(reader.offset());
  return reader.status();
}

absl::Status Decoder::ReadVlBlocks() {
  // Each block has a position, a size and at least one byte of content.
  constexpr int64_t kLeastStored = 4 + 4 + 1;
  if (header_.nblocks() > (header_.cbytes - header_.size()) / kLeastStored) {
    return DataLoss("chunk blocks: %d bytes are too few for %d blocks", header_.cbytes,
                    header_.nblocks());
  }
  ByteReader positions(chunk_, "chunk blocks");
  positions.Seek(static_cast<uint64_t>(header_.size()), "positions");
  int64_t previous = blocks_begin_ - 1;
  int64_t begin = 0;
  vlblocks_.reserve(static_cast<size_t>(header_.nblocks()));
  for (int32_t i = 0; i < header_.nblocks(); ++i) {
    const auto start = positions.Le<int32_t>("position");
    if (start <= previous || start >= header_.cbytes) {
      return DataLoss("chunk blocks: position of block %d: expected %d to %d, got %d", i,
                      previous + 1, header_.cbytes - 1, start);
    }
    if (i > 0) vlblocks_.back().stored = static_cast<int32_t>(start - previous) - 4;
    ByteReader block(chunk_, "chunk block");
    block.Seek(static_cast<uint64_t>(start), "start");
    const auto nbytes = block.Le<int32_t>("size");
    CAIRN_RETURN_IF_ERROR(block.status());
    if (nbytes <= 0 || nbytes > header_.nbytes - begin) {
      return DataLoss("chunk blocks: size of block %d: expected 1 to %d, got %d", i,
                      header_.nbytes - begin, nbytes);
    }
    vlblocks_.push_back({.block = i, .begin = begin, .nbytes = nbytes, .start = start + 4});
    begin += nbytes;
    previous = start;
  }
  vlblocks_.back().stored = static_cast<int32_t>(header_.cbytes - previous) - 4;
  if (begin != header_.nbytes) {
    return DataLoss("chunk blocks: sizes add up to %d of %d bytes", begin, header_.nbytes);
  }
  for (const BlockPlace& place : vlblocks_) {
    if (place.stored <= 0) {
      return DataLoss("chunk blocks: the block at byte %d stores nothing", place.start - 4);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BlockPlace> Decoder::PlaceOf(int64_t block) const {
  if (header_.vlblocks) return vlblocks_[static_cast<size_t>(block)];
  ByteReader reader(chunk_, "chunk blocks");
  reader.Seek(static_cast<uint64_t>(header_.size() + 4 * block), "position");
  const auto start = reader.Le<int32_t>("position");
  CAIRN_RETURN_IF_ERROR(reader.status());
  if (start < blocks_begin_ || start >= header_.cbytes) {
    return DataLoss("chunk blocks: position of block %d: expected %d to %d, got %d", block,
                    blocks_begin_, header_.cbytes - 1, start);
  }
  const int64_t begin = block * header_.blocksize;
  return BlockPlace{
      .block = block,
      .begin = begin,
      .nbytes = static_cast<int32_t>(std::min<int64_t>(header_.blocksize, header_.nbytes - begin)),
      .start = start};
}

absl::Status Decoder::PrepareWorkspace(Workspace& workspace) const {
  if (codec_ == kHoleCodec && IsHole(header_, chunk_)) {
    return DataLoss("a hole: the data was lost before this frame was made");
  }
  CAIRN_ASSIGN_OR_RETURN(workspace.codec, workspace.codecs.Get(codec_, context_.registry));
  workspace.codec->UseDictionary(dict_);
  return absl::OkStatus();
}

template <typename Visit>
absl::Status Decoder::ForEachStream(const BlockPlace& place, const Visit& visit) const {
  const auto nbytes = static_cast<size_t>(place.nbytes);
  ByteReader reader(chunk_, "chunk stream");
  reader.Seek(static_cast<uint64_t>(place.start), "start");
  if (header_.vlblocks) {
    const Bytes stored = reader.Take(static_cast<uint64_t>(place.stored), "content");
    CAIRN_RETURN_IF_ERROR(reader.status());
    return visit({.stored = stored}, 0, nbytes);
  }
  const auto nstreams = static_cast<size_t>(StreamsOf(header_, place.nbytes));
  const size_t size = nbytes / nstreams;
  if (size * nstreams != nbytes) {
    return DataLoss("chunk block %d: %d bytes cannot be cut into %d streams", place.block, nbytes,
                    nstreams);
  }
  for (size_t i = 0; i < nstreams; ++i) {
    Stream stream;
    const auto csize = reader.Le<int32_t>("csize");
    if (csize > 0) {
      stream.stored = reader.Take(static_cast<uint64_t>(csize), "content");
      // A stream that does not get smaller is stored as it is, so none is larger. Without this
      // check, codecs would read any number of bytes that decode to nothing, for each of the blocks
      // that begin there.
      if (stream.stored.size() > size) {
        reader.Fail("csize", "expected up to %d, got %d", size, csize);
      }
    } else {
      const uint8_t token = csize == 0 ? uint8_t{1} : reader.U8("token");
      if (reader.ok() && ((token & 1) == 0 || csize < -255)) {
        reader.Fail("csize", "%d with token %d is not a run", csize, token);
      }
      stream.run = static_cast<std::byte>(0 - static_cast<uint32_t>(csize));
    }
    CAIRN_RETURN_IF_ERROR(reader.status());
    if (absl::Status status = visit(stream, i * size, size); !status.ok()) {
      return Annotate(status, "chunk block %d, stream %d", place.block, i);
    }
  }
  return absl::OkStatus();
}

absl::Status Decoder::DecodeStreams(
    const BlockPlace& place, MutableBytes out, Workspace& workspace,
    absl::FunctionRef<codec::StreamPart(size_t, size_t)> wanted) const {
  return ForEachStream(place, [&](const Stream& stream, size_t from, size_t size) {
    const codec::StreamPart part = wanted(from, from + size);
    if (part.end == 0) return absl::OkStatus();
    return DecodeStream(stream, part, out.subspan(from, size), workspace);
  });
}

absl::Status Decoder::DecodeStream(const Stream& stream, const codec::StreamPart& part,
                                   MutableBytes out, Workspace& workspace) const {
  if (stream.is_run()) {
    FillBytes(out.first(part.end), stream.run);
    if (!part.fields.empty()) part.Gather(out);
    return absl::OkStatus();
  }
  if (stream.stored.size() == out.size()) {
    if (!part.fields.empty()) {
      part.Gather(stream.stored);
    } else {
      CopyBytes(stream.stored.first(part.end), out);
    }
    return absl::OkStatus();
  }
  const PluginCall call{.typesize = header_.typesize,
                        .meta = header_.codec_meta,
                        .blockshape = context_.blockshape,
                        .chunk_header = chunk_.first(static_cast<size_t>(header_.size()))};
  return workspace.codec->DecompressPart(stream.stored, out, part, call);
}

absl::Status Decoder::GatherPart(const BlockPlace& place, const filter::BlockPart& part,
                                 MutableBytes small, Workspace& workspace) const {
  return ForEachStream(place, [&](const Stream& stream, size_t from, size_t size) {
    const size_t wanted = part.EndWithin(from, from + size) - from;
    if (wanted == 0) return absl::OkStatus();
    if (!stream.is_run() && stream.stored.size() == size) {
      part.Gather(from, stream.stored.first(wanted), small);
      return absl::OkStatus();
    }
    const MutableBytes decoded = workspace.filtered.Get(size);
    const size_t begin = part.planes == 1 ? std::max(part.begin, from) - from : 0;
    CAIRN_RETURN_IF_ERROR(
        DecodeStream(stream, {.begin = begin, .end = wanted}, decoded, workspace));
    part.Gather(from, decoded.first(wanted), small);
    return absl::OkStatus();
  });
}

absl::StatusOr<bool> Decoder::DecodePart(const BlockPlace& place, int64_t begin, MutableBytes out,
                                         Workspace& workspace) const {
  const std::optional<filter::BlockPart> part =
      pipeline_.PartOf(static_cast<size_t>(place.nbytes), static_cast<size_t>(begin), out.size());
  if (!part.has_value()) return false;
  const bool filtered = pipeline_.active() > 0;
  const MutableBytes small = filtered ? workspace.block.Get(part->size()) : out;
  CAIRN_RETURN_IF_ERROR(GatherPart(place, *part, small, workspace));
  if (filtered) pipeline_.BackwardPart(*part, small, workspace.scratch.Get(small.size()), out);
  return true;
}

absl::Status Decoder::DecodeBlock(const BlockPlace& place, Bytes reference, MutableBytes out,
                                  Workspace& workspace) const {
  const auto all = [](size_t begin, size_t end) { return codec::StreamPart{.end = end - begin}; };
  if (pipeline_.active() == 0) return DecodeStreams(place, out, workspace, all);
  const MutableBytes filtered = workspace.filtered.Get(out.size());
  CAIRN_RETURN_IF_ERROR(DecodeStreams(place, filtered, workspace, all));
  const MutableBytes scratch =
      pipeline_.active() > 1 ? workspace.scratch.Get(out.size()) : MutableBytes();
  return pipeline_.Backward(filtered, reference, out, scratch);
}

int64_t Decoder::BlockAt(int64_t position) const {
  if (!header_.vlblocks) return position < header_.blocksize ? 0 : position / header_.blocksize;
  const auto after =
      std::upper_bound(vlblocks_.begin(), vlblocks_.end(), position,
                       [](int64_t value, const BlockPlace& place) { return value < place.begin; });
  return after - vlblocks_.begin() - 1;
}

absl::Status Decoder::DecodeOverlap(int64_t block, Bytes reference, int64_t begin, MutableBytes dst,
                                    Workspace& workspace) const {
  const absl::StatusOr<BlockPlace> found = PlaceOf(block);
  if (!found.ok()) return found.status();
  const BlockPlace& place = *found;
  const int64_t from = std::max(place.begin, begin);
  const int64_t to = std::min(place.begin + place.nbytes, begin + std::ssize(dst));
  const MutableBytes out =
      dst.subspan(static_cast<size_t>(from - begin), static_cast<size_t>(to - from));
  if (to - from == place.nbytes) return DecodeBlock(place, reference, out, workspace);
  CAIRN_ASSIGN_OR_RETURN(const bool done, DecodePart(place, from - place.begin, out, workspace));
  if (done) return absl::OkStatus();
  const MutableBytes complete = workspace.block.Get(static_cast<size_t>(place.nbytes));
  CAIRN_RETURN_IF_ERROR(DecodeBlock(place, reference, complete, workspace));
  CopyBytes(complete.subspan(static_cast<size_t>(from - place.begin), out.size()), out);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<numbers::Column>> ReadColumns(const Decoder& decoder) {
  std::vector<numbers::Column> columns;
  if (!CodesNumbers(decoder.codec_) || !decoder.header_.has_blocks()) return columns;
  for (int64_t i = 0; i < decoder.nblocks() && columns.empty(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const BlockPlace place, decoder.PlaceOf(i));
    const auto read = [&](const Decoder::Stream& stream, size_t /*from*/, size_t size) {
      if (stream.is_run() || stream.stored.size() == size) return absl::OkStatus();
      return codec::ReadColumns(decoder.codec_, stream.stored, columns);
    };
    CAIRN_RETURN_IF_ERROR(decoder.ForEachStream(place, read));
  }
  return columns;
}

// Returns the memory for decoding this many bytes of blocks at the same time, apart from any
// buffer. Filters work in two more buffers of that size. If `reference` is true, block 0 is decoded
// first and stays.
int64_t Decoder::MemoryFor(int64_t nbytes, bool reference) const {
  // ZFP works in memory of its own, for items and stream, and codecs of numbers for a column.
  // Codec::kAuto may have shuffled that.
  const int64_t coded = codec::IsZfp(codec_)     ? 3 * nbytes
                        : codec_ == Codec::kAuto ? 2 * nbytes
                        : CodesNumbers(codec_)   ? nbytes
                                                 : 0;
  if (reference) {
    return 3 * std::max<int64_t>(nbytes, header_.blocksize) + header_.blocksize + coded;
  }
  return (pipeline_.active() > 0 ? 3 * nbytes : nbytes) + coded;
}

absl::Status CheckDecodeMemory(const DecodeContext& context, int64_t block, int64_t memory) {
  if (memory <= context.max_memory) return absl::OkStatus();
  return ResourceExhausted("chunk block %d: %d bytes of memory to decode it pass the limit of %d",
                           block, memory, context.max_memory);
}

absl::Status Decoder::CheckMemory(const BlockPlace& place, int64_t beside) const {
  const bool reference = NeedsReference() && place.block > 0;
  return CheckDecodeMemory(context_, place.block, MemoryFor(place.nbytes, reference) + beside);
}

absl::StatusOr<int64_t> Decoder::PieceEnd(int64_t begin, int64_t size) const {
  CAIRN_ASSIGN_OR_RETURN(BlockPlace place, PlaceOf(BlockAt(begin)));
  CAIRN_RETURN_IF_ERROR(CheckMemory(place));
  // Each block may have a thread and two buffers of its own, and block 0 three.
  const int64_t most = std::min(size, context_.max_memory / 6);
  int64_t end = place.begin + place.nbytes;
  while (end < nbytes()) {
    CAIRN_ASSIGN_OR_RETURN(place, PlaceOf(place.block + 1));
    if (end + place.nbytes - begin > most) break;
    end += place.nbytes;
  }
  return end;
}

// Returns null if one thread must do the work. Blocks are decoded completely. A block that does not
// fit into the caller's buffer costs memory, which a few bytes of a hostile chunk could ask for.
// Threads take more memory than one thread does, so they are left out if there is too little for
// them.
absl::StatusOr<Executor*> Decoder::ChooseExecutor(BlockRange range, int64_t begin, int64_t size,
                                                  bool reference) const {
  Executor* const executor =
      WorthThreads(context_.executor, size, range.last - range.first) ? context_.executor : nullptr;
  // The memory is never more than twice all blocks and the buffers that filters need for them.
  if (6 * int64_t{header_.nbytes} <= context_.max_memory) return executor;
  int64_t all = reference ? header_.blocksize : 0;  // blocks that are decoded outside dst
  int64_t largest = 0;
  for (const int64_t block : {range.first, range.last - 1}) {
    CAIRN_ASSIGN_OR_RETURN(const BlockPlace place, PlaceOf(block));
    if (begin <= place.begin && place.begin + place.nbytes <= begin + size) continue;
    all += place.nbytes;
    largest = std::max<int64_t>(largest, place.nbytes);
  }
  if (executor != nullptr && MemoryFor(all, false) <= context_.max_memory) return executor;
  CAIRN_RETURN_IF_ERROR(CheckDecodeMemory(context_, range.first, MemoryFor(largest, reference)));
  return nullptr;
}

absl::Status Decoder::DecodeReference(MutableBytes out, Workspace& workspace) const {
  CAIRN_RETURN_IF_ERROR(PrepareWorkspace(workspace));
  CAIRN_ASSIGN_OR_RETURN(const BlockPlace first, PlaceOf(0));
  return DecodeBlock(first, {}, out, workspace);
}

absl::Status Decoder::DecodeBlocks(int64_t begin, MutableBytes dst, Workspace& workspace) const {
  BlockRange range{.first = BlockAt(begin), .last = BlockAt(begin + std::ssize(dst) - 1) + 1};
  const auto size = static_cast<size_t>(header_.blocksize);
  const bool needs_reference = NeedsReference() && range.last > 1;
  const bool in_place = begin == 0 && dst.size() >= size;
  CAIRN_ASSIGN_OR_RETURN(Executor* const executor, ChooseExecutor(range, begin, std::ssize(dst),
                                                                  needs_reference && !in_place));
  MutableBytes reference;
  if (needs_reference) {
    // DELTA codes every other block against block 0, so that one comes first.
    reference = in_place ? dst.first(size) : workspace.reference.Get(size);
    CAIRN_RETURN_IF_ERROR(DecodeReference(reference, workspace));
    if (range.first == 0) {
      // The range continues after block 0, so all of its rest is wanted.
      if (!in_place) CopyBytes(reference.subspan(static_cast<size_t>(begin)), dst);
      range.first = 1;
    }
  }
  return ForEachBlock(
      range, executor, *context_.pool, workspace,
      [this](Workspace& own) { return PrepareWorkspace(own); },
      [&](int64_t block, Workspace& own) {
        return DecodeOverlap(block, reference, begin, dst, own);
      });
}

absl::Status Decoder::DecodeRange(int64_t begin, MutableBytes dst) const {
  const WorkspacePool::Lease workspace = context_.pool->Acquire();
  return DecodeRange(begin, dst, *workspace);
}

absl::Status Decoder::DecodeRange(int64_t begin, MutableBytes dst, Workspace& workspace) const {
  if (!RangeFits(begin, static_cast<int64_t>(dst.size()), header_.nbytes)) {
    return OutOfRange("%d bytes from byte %d on, of a chunk of %d", dst.size(), begin,
                      header_.nbytes);
  }
  if (dst.empty()) return absl::OkStatus();
  const Bytes body = chunk_.subspan(static_cast<size_t>(header_.size()));
  if (header_.special != SpecialValue::kNone) {
    return FillSpecial({.kind = header_.special, .typesize = header_.typesize, .value = body},
                       begin, dst);
  }
  if (header_.memcpyed) {
    CopyBytes(body.subspan(static_cast<size_t>(begin), dst.size()), dst);
    return absl::OkStatus();
  }
  return DecodeBlocks(begin, dst, workspace);
}

absl::Status Decoder::Decode(MutableBytes dst) const {
  if (static_cast<int64_t>(dst.size()) != header_.nbytes) {
    return InvalidArgument("chunk decodes to %d bytes, the buffer has %d", header_.nbytes,
                           dst.size());
  }
  return DecodeRange(0, dst);
}

}  // namespace cairn::chunk
