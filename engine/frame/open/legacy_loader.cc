#include "engine/frame/open/legacy_loader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/legacy/beta_frame.h"
#include "engine/format/legacy/early_fields.h"
#include "engine/format/legacy/era.h"
#include "engine/format/legacy/frame_2019.h"
#include "engine/frame/open/packed_loader.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/read/stored_chunk.h"

namespace cairn::frame {

namespace {

namespace legacy = format::legacy;

absl::StatusOr<std::vector<std::byte>> ReadHeaderBytes(const FrameFile& source, int64_t available) {
  std::vector<std::byte> bytes(static_cast<size_t>(std::min(available, legacy::kEarlyFieldsSize)));
  CAIRN_RETURN_IF_ERROR(source.ReadAt(0, bytes));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, legacy::ParseEarlyHeaderLength(bytes));
  if (size > available) {
    return DataLoss("frame header: header_len: expected up to %d, got %d", available, size);
  }
  // What was read stays as it is, whoever writes meanwhile.
  const size_t seen = bytes.size();
  bytes.resize(static_cast<size_t>(size));
  if (bytes.size() <= seen) return bytes;
  CAIRN_RETURN_IF_ERROR(
      source.ReadAt(static_cast<int64_t>(seen), MutableBytes(bytes).subspan(seen)));
  return bytes;
}

absl::Status LoadBetaTrailer(State& state) {
  const int64_t end = state.header.frame_size;
  CAIRN_ASSIGN_OR_RETURN(const Chunk bytes,
                         PinTrailer(state.region, end, end - state.header.header_len));
  CAIRN_ASSIGN_OR_RETURN(const legacy::BetaTrailer trailer,
                         legacy::ParseBetaTrailer(bytes.bytes()));
  state.trailer.begin = state.trailer.end - static_cast<int64_t>(bytes.bytes().size());
  // Of the betas with the newer trailer only the last one has today's rule; it is taken for that.
  state.whole_block_bitshuffle = trailer.beta2;
  const format::LayerPlace& place = trailer.usermeta;
  if (place.size == 0) return absl::OkStatus();
  const Bytes content = format::ContentOf(place, bytes.bytes());
  state.vlmetalayers.push_back({place.name, Chunk(content, bytes.owner())});
  return absl::OkStatus();
}

absl::Status LoadChunkIndex(State& state) {
  CAIRN_ASSIGN_OR_RETURN(FoundIndex index, FindIndexChunk(state));
  CAIRN_RETURN_IF_ERROR(AttachIndex(std::move(index), std::nullopt, state));
  SetContiguousSource(state);
  return absl::OkStatus();
}

// Headers of 2019 name no filters: those of the first chunk stand for all. Without a readable one
// there are none.
void TakeFiltersOfFirstChunk(State& state) {
  if (state.chunks.size() == 0) return;
  ScratchBuffer scratch;
  const absl::StatusOr<StoredChunk> first = ReadStored(state, 0, VerifyPolicy::kNever, scratch);
  if (first.ok()) state.header.filters = first->header.filters;
}

absl::Status LoadEarlyFrame(const FrameFile& source, State& state) {
  const bool beta = state.era == Era::kBeta;
  CAIRN_ASSIGN_OR_RETURN(const int64_t available, source.Size());
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> header, ReadHeaderBytes(source, available));
  CAIRN_ASSIGN_OR_RETURN(state.header,
                         beta ? legacy::ParseBetaHeader(header) : legacy::ParseHeader2019(header));
  state.header_bytes = std::make_shared<const std::vector<std::byte>>(std::move(header));
  const int64_t least = state.header.header_len + (beta ? format::kMinTrailerSize : 0);
  const int64_t frame_size = state.header.frame_size;
  if (frame_size < least || frame_size > available) {
    return DataLoss("frame header: frame_size: expected %d to %d, got %d", least, available,
                    frame_size);
  }
  CAIRN_ASSIGN_OR_RETURN(state.region, source.View(frame_size));
  state.trailer = {frame_size, frame_size};
  state.whole_block_bitshuffle = true;
  state.array = ArrayOf(state.header);
  if (beta) CAIRN_RETURN_IF_ERROR(LoadBetaTrailer(state));
  CAIRN_RETURN_IF_ERROR(LoadChunkIndex(state));
  if (!beta) TakeFiltersOfFirstChunk(state);
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
  auto state = std::make_shared<State>();
  state->env = std::move(env);
  state->checkpoint_id = state->env->NewCheckpointId();
  state->era = era;
  if (era == Era::kPacked2015) {
    CAIRN_RETURN_IF_ERROR(LoadPacked(source, *state));
  } else {
    CAIRN_RETURN_IF_ERROR(LoadEarlyFrame(source, *state));
    state->stored_bytes = StoredBytesOf(*state);
    state->info = MakeInfo(*state);
  }
  return state;
}

absl::Status CheckWritable(const State& state) {
  if (state.era == Era::kCurrent) return absl::OkStatus();
  return FailedPrecondition(
      "the frame is read-only: its format is older, %s; `cairn copy` makes a current frame of it",
      NameOf(state.era));
}

}  // namespace cairn::frame
