#include "engine/frame/open/legacy_loader.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/format/legacy/early_frame.h"
#include "engine/format/legacy/era.h"
#include "engine/format/legacy/packed.h"
#include "engine/frame/open/checkpoint_parts.h"
#include "engine/frame/read/stored_chunk.h"

namespace cairn::frame {

namespace {

namespace legacy = format::legacy;
using legacy::PackedHeader;

absl::Status LoadBetaTrailer(StateBuilder& builder) {
  Checkpoint& checkpoint = *builder.checkpoint;
  const int64_t end = checkpoint.header.frame_size;
  CAIRN_ASSIGN_OR_RETURN(const Chunk bytes, PinTrailer(builder.state->region, end,
                                                       end - checkpoint.header.header_len));
  CAIRN_ASSIGN_OR_RETURN(const legacy::BetaTrailer trailer,
                         legacy::ParseBetaTrailer(bytes.bytes()));
  checkpoint.trailer.begin = end - std::ssize(bytes.bytes());
  // Among the betas with the newer trailer only the last one has today's rule. All are taken for
  // that one.
  checkpoint.whole_block_bitshuffle = trailer.beta2;
  const format::LayerPlace& layer = trailer.usermeta;
  if (layer.size == 0) return absl::OkStatus();
  const Bytes content = format::ContentOf(layer, bytes.bytes());
  builder.metadata->vlmetalayers.push_back({layer.name, Chunk(content, bytes.owner())});
  return absl::OkStatus();
}

// Headers of 2019 name no filters, so the filters of the first chunk stand for all. Without a
// readable one there are none.
void TakeFiltersOfFirstChunk(StateBuilder& builder) {
  if (builder.state->chunks.size() == 0) return;
  ScratchBuffer scratch;
  const absl::StatusOr<StoredChunk> first =
      ReadStored(*builder.state, 0, VerifyPolicy::kNever, scratch);
  if (first.ok()) builder.checkpoint->header.filters = first->header.filters;
}

absl::Status LoadEarlyFrame(const FrameFile& source, StateBuilder& builder) {
  Checkpoint& checkpoint = *builder.checkpoint;
  State& state = *builder.state;
  const bool beta = checkpoint.era == Era::kBeta;
  CAIRN_ASSIGN_OR_RETURN(const int64_t available, source.Size());
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                         ReadHeaderBytes(source, std::min(available, legacy::kEarlyFieldsSize),
                                         legacy::kEarlyFieldsSize));
  CAIRN_ASSIGN_OR_RETURN(format::FrameHeader header,
                         beta ? legacy::ParseBetaHeader(bytes) : legacy::ParseHeader2019(bytes));
  CAIRN_RETURN_IF_ERROR(CheckFrameSize(header, beta ? format::kMinTrailerSize : 0, available));
  const int64_t frame_size = header.frame_size;
  builder.SetHeader(std::move(header), std::move(bytes));
  CAIRN_ASSIGN_OR_RETURN(state.region, source.View(frame_size));
  checkpoint.trailer = {frame_size, frame_size};
  checkpoint.whole_block_bitshuffle = true;
  if (beta) CAIRN_RETURN_IF_ERROR(LoadBetaTrailer(builder));
  CAIRN_ASSIGN_OR_RETURN(FoundIndex index, FindIndexChunk(state.region, checkpoint));
  CAIRN_RETURN_IF_ERROR(AttachIndex(std::move(index), std::nullopt, state));
  SetContiguousSource(state);
  if (!beta) TakeFiltersOfFirstChunk(builder);
  return absl::OkStatus();
}

// Iterates over the chunks, each of which begins where the one before it ends. Not thread-safe.
class PackedChunks {
 public:
  PackedChunks(const FrameView& region, int64_t end) : region_(region), end_(end) {}

  int64_t at() const { return at_; }
  int64_t nbytes() const { return nbytes_; }  // decoded size of all chunks so far

  // Returns the header of the chunk that should begin at `position`.
  absl::StatusOr<chunk::Header> Next(int64_t position) {
    if (position != at_) {
      return DataLoss("expected at byte %d, got %d", at_, position);
    }
    const int64_t size = std::min<int64_t>(chunk::kBlosc1HeaderSize, end_ - at_);
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, region_.Read(at_, size, scratch_));
    const absl::StatusOr<chunk::Header> header = legacy::ParsePackedChunk(bytes, end_ - at_);
    if (!header.ok()) return Annotate(header.status(), "at byte %d", at_);
    at_ += header->cbytes;
    nbytes_ += header->nbytes;
    return header;
  }

 private:
  const FrameView& region_;
  int64_t end_;
  int64_t at_ = legacy::kPackedHeaderSize;
  int64_t nbytes_ = 0;  // no file has enough chunks to overflow it
  ScratchBuffer scratch_;
};

// Returns the chunk at `position`, which is empty if there is none.
absl::StatusOr<Chunk> TakeChunk(const FrameView& region, PackedChunks& chunks,
                                std::string_view name, int64_t position) {
  if (position == 0) return Chunk();
  const absl::StatusOr<chunk::Header> header = chunks.Next(position);
  if (!header.ok()) return Annotate(header.status(), "%s", name);
  return region.Pin(position, header->cbytes);
}

absl::Status TakeReference(const PackedHeader& packed, const Chunk& filters,
                           Checkpoint& checkpoint) {
  if (!packed.has_delta() || packed.nchunks == 0) return absl::OkStatus();
  if (filters.bytes().empty()) return DataLoss("packed super-chunk: DELTA without a reference");
  const absl::StatusOr<Bytes> reference = chunk::MemcpyedPayload(filters.bytes());
  if (!reference.ok()) return Annotate(reference.status(), "filters chunk");
  checkpoint.delta_reference = ToVector(*reference);
  return absl::OkStatus();
}

// Takes the chunks that hold no data.
absl::Status TakeOthers(const PackedHeader& packed, PackedChunks& chunks, StateBuilder& builder) {
  const FrameView& region = builder.state->region;
  Checkpoint& checkpoint = *builder.checkpoint;
  CAIRN_ASSIGN_OR_RETURN(const Chunk filters,
                         TakeChunk(region, chunks, "filters chunk", packed.filters_chunk));
  CAIRN_RETURN_IF_ERROR(TakeReference(packed, filters, checkpoint));
  CAIRN_RETURN_IF_ERROR(TakeChunk(region, chunks, "codec chunk", packed.codec_chunk).status());
  checkpoint.trailer.begin = chunks.at();
  const struct {
    std::string_view name;
    int64_t position;
  } layers[] = {{"metadata", packed.metadata_chunk}, {"userdata", packed.userdata_chunk}};
  for (const auto& layer : layers) {
    CAIRN_ASSIGN_OR_RETURN(Chunk chunk, TakeChunk(region, chunks, layer.name, layer.position));
    if (layer.position == 0) continue;
    builder.metadata->vlmetalayers.push_back({std::string(layer.name), std::move(chunk)});
  }
  checkpoint.trailer.end = chunks.at();
  return absl::OkStatus();
}

// Takes the data chunks. Their facts about the frame go to `header`. Its chunksize is fixed if all
// chunks except the last have that size.
absl::Status TakeData(const PackedHeader& packed, PackedChunks& chunks, State& state,
                      format::FrameHeader& header) {
  CAIRN_ASSIGN_OR_RETURN(const Chunk table,
                         state.region.Pin(packed.table, packed.nchunks * legacy::kPackedEntrySize));
  const int64_t others = chunks.nbytes();
  bool variable = false;
  int32_t last = kMaxChunkBytes;
  for (int64_t i = 0; i < packed.nchunks; ++i) {
    const auto position =
        static_cast<int64_t>(LoadLe<uint64_t>(table.bytes().data() + i * legacy::kPackedEntrySize));
    const absl::StatusOr<chunk::Header> found = chunks.Next(position);
    if (!found.ok()) return Annotate(found.status(), "chunk %d", i);
    if (i == 0) {
      header.typesize = found->typesize;
      header.chunksize = found->nbytes;
    }
    // A chunk is variable if it follows a shorter one, or is larger than the first.
    variable = variable || last < header.chunksize || found->nbytes > header.chunksize;
    last = found->nbytes;
    state.chunks.Append({.value = position - legacy::kPackedHeaderSize});
  }
  header.nbytes = chunks.nbytes() - others;
  if (variable) header.chunksize = format::kChunksizeVariable;
  return absl::OkStatus();
}

absl::Status CheckSums(const PackedHeader& packed, const PackedChunks& chunks) {
  if (chunks.at() != packed.table) {
    return DataLoss("table: expected at byte %d, got %d", chunks.at(), packed.table);
  }
  const int64_t unpacked =
      legacy::kPackedHeaderSize + chunks.nbytes() + packed.nchunks * legacy::kPackedEntrySize;
  if (unpacked == packed.unpacked) return absl::OkStatus();
  return DataLoss("nbytes: expected %d, got %d", unpacked, packed.unpacked);
}

format::FrameHeader HeaderOf(const PackedHeader& packed) {
  format::FrameHeader header;
  header.header_len = legacy::kPackedHeaderSize;
  header.frame_size = packed.size;
  header.version = 0;
  header.codec = packed.codec;
  header.clevel = packed.clevel;
  header.cbytes = packed.table - legacy::kPackedHeaderSize;
  for (size_t i = 0; i < packed.filters.size(); ++i) header.filters[i].filter = packed.filters[i];
  return header;
}

// Reads the header of every chunk, because nothing less distinguishes a super-chunk from other
// bytes.
absl::Status LoadPacked(const FrameFile& source, StateBuilder& builder) {
  State& state = *builder.state;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  std::vector<std::byte> bytes(legacy::kPackedHeaderSize);
  CAIRN_RETURN_IF_ERROR(source.ReadAt(0, bytes));
  CAIRN_ASSIGN_OR_RETURN(const PackedHeader packed, legacy::ParsePackedHeader(bytes, size));
  const int64_t limit = state.env()->limits.max_nchunks;
  if (packed.nchunks > limit) {
    return ResourceExhausted("packed super-chunk: %d chunks pass the limit of %d", packed.nchunks,
                             limit);
  }
  CAIRN_ASSIGN_OR_RETURN(state.region, source.View(size));
  format::FrameHeader header = HeaderOf(packed);
  PackedChunks chunks(state.region, packed.table);
  absl::Status status = TakeOthers(packed, chunks, builder);
  const int64_t data_begin = chunks.at();
  if (status.ok()) status = TakeData(packed, chunks, state, header);
  if (status.ok()) status = CheckSums(packed, chunks);
  if (!status.ok()) return Annotate(status, "packed super-chunk");
  builder.SetHeader(std::move(header), std::move(bytes));
  state.chunks_end = packed.table;
  SetContiguousSource(state);
  state.stored_bytes = state.chunks_end - data_begin;
  return absl::OkStatus();
}

std::string_view NameOf(Era era) {
  switch (era) {
    case Era::kPacked2015:
      return "a packed super-chunk of 2015";
    case Era::kFrame2019:
      return "a frame of 2019";
    case Era::kBeta:
      return "a frame of the betas of 2.0.0";
    case Era::kCurrent:
      break;
  }
  return "a frame";
}

}  // namespace

absl::StatusOr<Era> FindEra(const FrameFile& source) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  std::byte head[legacy::kEraBytes];
  const MutableBytes bytes =
      MutableBytes(head).first(static_cast<size_t>(std::min(size, int64_t{legacy::kEraBytes})));
  CAIRN_RETURN_IF_ERROR(source.ReadAt(0, bytes));
  return legacy::EraOf(bytes, size);
}

absl::StatusOr<StatePtr> LoadLegacy(const FrameFile& source, Era era,
                                    std::shared_ptr<const FrameContext> env) {
  StateBuilder builder(std::move(env), era);
  CAIRN_RETURN_IF_ERROR(era == Era::kPacked2015 ? LoadPacked(source, builder)
                                                : LoadEarlyFrame(source, builder));
  return std::move(builder).Finish();
}

absl::Status CheckWritable(const State& state) {
  if (state.checkpoint->era == Era::kCurrent) return absl::OkStatus();
  return FailedPrecondition(
      "the frame is read-only: its format is older, %s; `cairn copy` makes a current frame of it",
      NameOf(state.checkpoint->era));
}

}  // namespace cairn::frame
