#include "engine/frame/open/legacy_loader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/legacy/early_frame.h"
#include "engine/format/legacy/era.h"
#include "engine/frame/open/index_loader.h"
#include "engine/frame/open/packed_loader.h"
#include "engine/frame/read/stored_chunk.h"

namespace cairn::frame {

namespace {

namespace legacy = format::legacy;

absl::StatusOr<std::vector<std::byte>> ReadHeaderBytes(const FrameFile& source, int64_t available) {
  std::vector<std::byte> bytes(static_cast<size_t>(std::min(available, legacy::kEarlyFieldsSize)));
  CAIRN_RETURN_IF_ERROR(source.ReadAt(0, bytes));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size,
                         format::ParseHeaderLength(bytes, legacy::kEarlyFieldsSize));
  if (size > available) {
    return DataLoss("frame header: header_len: expected up to %d, got %d", available, size);
  }
  // What was read is not read again: another process may be writing.
  const size_t seen = bytes.size();
  bytes.resize(static_cast<size_t>(size));
  if (bytes.size() <= seen) return bytes;
  CAIRN_RETURN_IF_ERROR(
      source.ReadAt(static_cast<int64_t>(seen), MutableBytes(bytes).subspan(seen)));
  return bytes;
}

absl::Status LoadBetaTrailer(StateBuilder& builder) {
  Checkpoint& checkpoint = *builder.checkpoint;
  const int64_t end = checkpoint.header.frame_size;
  CAIRN_ASSIGN_OR_RETURN(const Chunk bytes, PinTrailer(builder.state->region, end,
                                                       end - checkpoint.header.header_len));
  CAIRN_ASSIGN_OR_RETURN(const legacy::BetaTrailer trailer,
                         legacy::ParseBetaTrailer(bytes.bytes()));
  checkpoint.trailer.begin = end - std::ssize(bytes.bytes());
  // Of the betas with the newer trailer only the last one has today's rule; it is taken for that.
  checkpoint.whole_block_bitshuffle = trailer.beta2;
  const format::LayerPlace& layer = trailer.usermeta;
  if (layer.size == 0) return absl::OkStatus();
  const Bytes content = format::ContentOf(layer, bytes.bytes());
  builder.metadata->vlmetalayers.push_back({layer.name, Chunk(content, bytes.owner())});
  return absl::OkStatus();
}

// Headers of 2019 name no filters: those of the first chunk stand for all. Without a readable one
// there are none.
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
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, ReadHeaderBytes(source, available));
  CAIRN_ASSIGN_OR_RETURN(format::FrameHeader header,
                         beta ? legacy::ParseBetaHeader(bytes) : legacy::ParseHeader2019(bytes));
  const int64_t least = header.header_len + (beta ? format::kMinTrailerSize : 0);
  const int64_t frame_size = header.frame_size;
  if (frame_size < least || frame_size > available) {
    return DataLoss("frame header: frame_size: expected %d to %d, got %d", least, available,
                    frame_size);
  }
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

absl::StatusOr<std::shared_ptr<const State>> LoadLegacy(const FrameFile& source, Era era,
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
