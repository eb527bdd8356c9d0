#include "engine/frame/open/state_loader.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/journal.h"
#include "engine/format/trailer.h"
#include "engine/frame/files/lock_bytes.h"
#include "engine/frame/journal/journal_reader.h"
#include "engine/frame/journal/replay.h"
#include "engine/frame/open/legacy_loader.h"
#include "engine/frame/open/seal_check.h"
#include "engine/frame/state/sparse_chunk_source.h"

namespace cairn::frame {

namespace {

// A writer may flip the header while it is read; then it is read again.
constexpr int kMaxAttempts = 100;
constexpr int kMaxDamaged = 5;
constexpr std::chrono::milliseconds kPause(2);

bool IsBeingWritten(const FrameFile& source) {
  return source.file()->IsLocked(kWriterLockByte, 1).value_or(false);
}

absl::StatusOr<std::vector<std::byte>> ReadHeaderBytes(const FrameFile& source) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  if (size < format::kFixedHeaderSize) {
    return DataLoss("frame header: needs %d bytes, the file has %d", format::kFixedHeaderSize,
                    size);
  }
  std::vector<std::byte> bytes(format::kFixedHeaderSize);
  CAIRN_RETURN_IF_ERROR(source.ReadAt(0, bytes));
  CAIRN_ASSIGN_OR_RETURN(const int64_t header_len, format::ParseHeaderLength(bytes));
  if (header_len > size) {
    return DataLoss("frame header: header_len: expected up to %d, got %d", size, header_len);
  }
  bytes.resize(static_cast<size_t>(header_len));
  CAIRN_RETURN_IF_ERROR(source.ReadAt(format::kFixedHeaderSize,
                                      MutableBytes(bytes).subspan(format::kFixedHeaderSize)));
  return bytes;
}

absl::Status CheckFrameSize(const format::FrameHeader& header, int64_t available) {
  const int64_t least = header.header_len + format::kMinTrailerSize;
  if (header.frame_size >= least && header.frame_size <= available) return absl::OkStatus();
  return DataLoss("frame header: frame_size: expected %d to %d, got %d", least, available,
                  header.frame_size);
}

// How many chunks header and index agree on; with variable chunks the index alone tells.
absl::StatusOr<int64_t> AgreeOnCount(const format::FrameHeader& header,
                                     const chunk::Header& index) {
  const int64_t in_index = index.nbytes / format::kIndexTypesize;
  const int64_t in_header =
      header.variable_chunks() ? in_index : CeilDiv<int64_t>(header.nbytes, header.chunksize);
  if (index.nbytes % format::kIndexTypesize != 0 || in_header != in_index || in_index == 0) {
    return DataLoss("index: nbytes: expected 8 for each of %d chunks, got %d", in_header,
                    index.nbytes);
  }
  if (header.variable_chunks() && in_index > MaxVariableChunks(header.cbytes)) {
    return DataLoss("index: %d chunks in an area of %d bytes", in_index, header.cbytes);
  }
  return in_header;
}

absl::Status CheckLayout(const format::FrameHeader& header, const FrameFile& source) {
  const bool sparse = header.layout == Layout::kSparse;
  if (sparse == (source.directory() != nullptr)) return absl::OkStatus();
  return absl::DataLossError(
      sparse ? "frame header: a sparse frame is opened by its directory, not its index"
             : "frame header: expected the index of a sparse frame, got a whole frame");
}

}  // namespace

absl::StatusOr<Chunk> PinTrailer(const FrameView& region, int64_t end, int64_t most) {
  CAIRN_ASSIGN_OR_RETURN(const Chunk tail,
                         region.Pin(end - format::kTrailerTailSize, format::kTrailerTailSize));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, format::ParseTrailerSize(tail.bytes(), most));
  return region.Pin(end - size, size);
}

absl::StatusOr<FoundIndex> FindIndexChunk(State& state) {
  FoundIndex found;
  if (state.header.nbytes == 0) return found;
  const std::optional<int64_t> begin = state.header.index_begin();
  const int64_t end = state.trailer.begin;
  if (!begin.has_value() || *begin > end) {
    return DataLoss("frame header: cbytes: expected up to %d, got %d",
                    end - state.header.header_len, state.header.cbytes);
  }
  const int64_t available = end - *begin;
  CAIRN_ASSIGN_OR_RETURN(
      const Chunk head, state.region.Pin(*begin, std::min<int64_t>(available, chunk::kHeaderSize)));
  const absl::StatusOr<chunk::Header> header = chunk::ParseHeader(head.bytes(), available);
  if (!header.ok()) return Annotate("index", header.status());
  CAIRN_ASSIGN_OR_RETURN(found.nchunks, AgreeOnCount(state.header, *header));
  if (found.nchunks > state.env->limits.max_nchunks) {
    return ResourceExhausted("index: %d chunks pass the limit of %d", found.nchunks,
                             state.env->limits.max_nchunks);
  }
  CAIRN_ASSIGN_OR_RETURN(found.chunk, state.region.Pin(*begin, header->cbytes));
  state.index = {*begin, *begin + header->cbytes};
  return found;
}

absl::Status AttachIndex(FoundIndex found, std::optional<IndexSeal> seal, State& state) {
  state.chunks_end = state.header.header_len;
  if (found.nchunks == 0) return absl::OkStatus();
  state.chunks_end = state.index.begin;
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const CommittedIndex> offsets,
                         CommittedIndex::Open(std::move(found.chunk), found.nchunks,
                                              std::move(seal), &state.env->pool));
  state.chunks = ChunkIndex(std::move(offsets));
  return absl::OkStatus();
}

namespace {

// In a frame of variable chunks each has a file, unless it is special. Where there are far fewer,
// the index claims what would cost more than the frame is worth.
absl::Status CheckFileCount(const State& state, const FrameFile& source) {
  const int64_t nchunks = state.chunks.size();
  if (source.directory() == nullptr || !state.header.variable_chunks() ||
      nchunks <= MaxVariableChunks(0)) {
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, source.directory()->List("."));
  if (nchunks / 2 <= std::ssize(names)) return absl::OkStatus();
  return DataLoss("index: %d chunks in a directory of %d files", nchunks, names.size());
}

void TakeVlMetalayers(const format::Trailer& trailer, const Chunk& bytes, State& state) {
  for (const format::LayerPlace& place : trailer.layers) {
    if (place.name == format::kSealLayer || place.name == format::kTableLayer) continue;
    const Bytes content = format::ContentOf(place, bytes.bytes());
    state.vlmetalayers.push_back({place.name, Chunk(content, bytes.owner())});
  }
}

// Whether the frame has the bytes that it had when it was sealed: others may have changed metadata.
bool HoldsAsManyBytes(const State& state) {
  if (state.seal == nullptr) return false;
  if (state.seal_holds) return true;
  const auto sealed = format::ParseFrameHeader(state.seal->header_copy);
  return sealed.ok() && sealed->nbytes == state.header.nbytes;
}

// A frame of one short chunk gives that chunk's size in the header and its chunksize in the seal.
void RestoreChunksize(State& state) {
  const bool one_chunk = state.header.nbytes > 0 && state.header.nbytes == state.header.chunksize;
  if (one_chunk && HoldsAsManyBytes(state) && state.seal->chunksize > state.header.chunksize) {
    state.header.chunksize = state.seal->chunksize;
  }
}

// All but the index.
void ApplySeal(SealVerdict verdict, State& state) {
  if (verdict.seal.has_value()) {
    state.seal = std::make_shared<const format::Seal>(*std::move(verdict.seal));
  }
  state.seal_holds = verdict.holds;
  state.trailer_damage = std::move(verdict.trailer_damage);
  state.header_changed_outside = verdict.header_changed_outside;
  state.info.fingerprint = verdict.type;
  state.info.sealed = verdict.sealed;
  state.info.trailer_damaged = !state.trailer_damage.ok();
}

// Behind what the seal vouches for.
JournalPosition StartOfJournal(const State& state, const format::Trailer& trailer,
                               Bytes trailer_bytes) {
  JournalPosition start;
  const uint64_t nonce = state.seal != nullptr ? state.seal->nonce : 0;
  start.base = format::BaseIdentity(state.header, trailer_bytes, trailer.layers, nonce);
  start.base_known = state.trailer_damage.ok();
  start.last = start.base;
  if (state.seal != nullptr) start.generation = state.seal->generation;
  start.begin = start.end = start.durable_end = state.header.frame_size;
  return start;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const State>> LoadCheckpoint(
    const FrameFile& source, std::vector<std::byte> header_bytes,
    std::shared_ptr<const FrameContext> env) {
  auto state = std::make_shared<State>();
  state->env = std::move(env);
  state->checkpoint_id = state->env->NewCheckpointId();
  state->header_bytes = std::make_shared<const std::vector<std::byte>>(std::move(header_bytes));
  CAIRN_ASSIGN_OR_RETURN(state->header, format::ParseFrameHeader(*state->header_bytes));
  CAIRN_RETURN_IF_ERROR(CheckLayout(state->header, source));
  CAIRN_ASSIGN_OR_RETURN(const int64_t available, source.Size());
  CAIRN_RETURN_IF_ERROR(CheckFrameSize(state->header, available));
  CAIRN_ASSIGN_OR_RETURN(state->region, source.View(state->header.frame_size));

  const int64_t frame_size = state->header.frame_size;
  CAIRN_ASSIGN_OR_RETURN(
      const Chunk trailer_bytes,
      PinTrailer(state->region, frame_size, frame_size - state->header.header_len));
  CAIRN_ASSIGN_OR_RETURN(const format::Trailer trailer,
                         format::ParseTrailer(trailer_bytes.bytes()));
  state->trailer = {frame_size - trailer.size, frame_size};
  CAIRN_ASSIGN_OR_RETURN(FoundIndex index, FindIndexChunk(*state));
  CAIRN_ASSIGN_OR_RETURN(SealVerdict verdict, CheckSeal({.header = state->header,
                                                         .header_bytes = *state->header_bytes,
                                                         .trailer = trailer,
                                                         .trailer_chunk = trailer_bytes,
                                                         .nchunks = index.nchunks}));
  CAIRN_RETURN_IF_ERROR(AttachIndex(std::move(index), std::move(verdict.index), *state));
  ApplySeal(std::move(verdict), *state);
  if (source.directory() != nullptr) {
    state->area =
        std::make_shared<SparseChunkSource>(source.directory(), source.file(), *state->env);
  } else {
    state->journal = StartOfJournal(*state, trailer, trailer_bytes.bytes());
    CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const void> registered,
                           source.Register(state->journal->generation));
    state->region.Retain(std::move(registered));
    SetContiguousSource(*state);
  }
  CAIRN_RETURN_IF_ERROR(CheckFileCount(*state, source));
  RestoreChunksize(*state);
  TakeVlMetalayers(trailer, trailer_bytes, *state);
  state->array = ArrayOf(state->header);
  state->stored_bytes = StoredBytesOf(*state);
  RenewInfo(*state);
  return state;
}

namespace {

absl::StatusOr<std::shared_ptr<const State>> WithJournal(const FrameFile& source,
                                                         std::shared_ptr<const State> state,
                                                         bool alone) {
  JournalReader finder(source, state->journal->end);
  CAIRN_ASSIGN_OR_RETURN(
      const ReplayResult followed,
      ReplayJournal(source, *state, finder, {.search = HowToSearch(source, alone)}));
  if (followed.state != nullptr) state = followed.state;
  if (!followed.damage.has_value() && followed.skipped.size() == 0) return state;
  auto marked = std::make_shared<State>(*state);
  marked->journal_skipped = followed.skipped;
  if (!followed.damage.has_value()) return marked;
  marked->journal_gap = followed.damage->bytes;
  marked->journal_damage =
      DataLoss("journal: bytes %d to %d are damaged: %d commits after generation %d cannot be read",
               marked->journal_gap.begin, marked->journal_gap.end, followed.damage->stranded,
               marked->info.generation);
  marked->info.sealed = false;
  marked->info.journal_damaged = true;
  marked->info.stranded_commits = followed.damage->stranded;
  return marked;
}

}  // namespace

JournalSearch HowToSearch(const FrameFile& source, bool alone) {
  // What lies behind a frame inside a larger file is not Cairn's, and may be long.
  if (source.origin() != 0) return JournalSearch::kNone;
  return alone || !IsBeingWritten(source) ? JournalSearch::kAll : JournalSearch::kNear;
}

absl::StatusOr<std::shared_ptr<const State>> LoadFrom(const FrameFile& source,
                                                      std::vector<std::byte> header_bytes,
                                                      std::shared_ptr<const FrameContext> env,
                                                      bool alone) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> state,
                         LoadCheckpoint(source, std::move(header_bytes), std::move(env)));
  return state->journal.has_value() ? WithJournal(source, std::move(state), alone) : state;
}

absl::StatusOr<int64_t> LoadFrameSize(const FrameFile& source) {
  std::byte word[8];
  const absl::Status status = source.ReadAt(format::kFrameSizeOffset, word);
  // There was a header: somebody has cut the file short.
  if (absl::IsOutOfRange(status)) return absl::DataLossError(status.message());
  CAIRN_RETURN_IF_ERROR(status);
  return static_cast<int64_t>(LoadBe<uint64_t>(word));
}

absl::StatusOr<std::shared_ptr<const State>> LoadState(const FrameFile& source,
                                                       std::shared_ptr<const FrameContext> env,
                                                       bool alone) {
  const absl::StatusOr<Era> found = FindEra(source);
  // The parser of current frames says what is wrong with what is not a frame.
  if (!found.ok() && !absl::IsInvalidArgument(found.status())) return found.status();
  const Era era = found.value_or(Era::kCurrent);
  if (era != Era::kCurrent) return LoadLegacy(source, era, std::move(env));
  for (int attempt = 1;; ++attempt) {
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> before, ReadHeaderBytes(source));
    absl::StatusOr<std::shared_ptr<const State>> state = LoadFrom(source, before, env, alone);
    // Also a header that is read twice and is the same may be half written, and torn pages of it
    // too: while somebody writes, damage has to last.
    const bool damaged = !state.ok() || !(*state)->journal_damage.ok();
    // The writer may be gone by now, too.
    const bool is_written = damaged && !alone && IsBeingWritten(source);
    const bool again = damaged && !alone && (attempt == 1 || (attempt < kMaxDamaged && is_written));
    if (again && is_written) std::this_thread::sleep_for(kPause);
    // What the state needs is registered now: if it is still the newest, nobody reclaims it.
    const absl::StatusOr<std::vector<std::byte>> after = ReadHeaderBytes(source);
    if (after.ok() && *after == before && !again) return state;
    if (attempt == kMaxAttempts) {
      return absl::UnavailableError("frame header: it changes each time that it is read");
    }
  }
}

}  // namespace cairn::frame
