#include "engine/frame/open/state_loader.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/format/trailer.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/checkpoint_end.h"
#include "engine/frame/open/checkpoint_parts.h"
#include "engine/frame/open/legacy_loader.h"
#include "engine/frame/open/trailer_scanner.h"
#include "engine/frame/replay/journal_reader.h"
#include "engine/frame/state/sparse_chunk_source.h"

namespace cairn::frame {

namespace {

// A writer may change the header while it is read. It is then read again.
constexpr int kMaxAttempts = 100;
constexpr int kMaxDamaged = 5;
// This many checkpoints may be newer than the header. Each costs a search of the file, which may be
// forged.
constexpr int kMaxFollowed = 64;
constexpr std::chrono::milliseconds kWriterPause(2);

bool IsBeingWritten(const FrameFile& source) {
  return source.file()->IsLocked(kWriterLockByte, 1).value_or(false);
}

absl::StatusOr<std::vector<std::byte>> ReadCurrentHeader(const FrameFile& source) {
  return ReadHeaderBytes(source, format::kFixedHeaderSize, format::kFixedHeaderSize);
}

absl::Status CheckLayout(const format::FrameHeader& header, const FrameFile& source) {
  const bool sparse = header.layout == Layout::kSparse;
  if (sparse == (source.directory() != nullptr)) return absl::OkStatus();
  return sparse
             ? DataLoss("frame header: a sparse frame is opened by its directory, not its index")
             : DataLoss("frame header: expected the index of a sparse frame, got a contiguous one");
}

// In a frame of variable chunks each chunk has a file, unless it is special. If there are far fewer
// files, the index claims more than the frame is worth.
absl::Status CheckFileCount(const State& state, const FrameFile& source) {
  const int64_t nchunks = state.chunks.size();
  if (source.directory() == nullptr || !state.variable_chunks() ||
      nchunks <= MaxVariableChunks(0)) {
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, source.directory()->List("."));
  if (nchunks / 2 <= std::ssize(names)) return absl::OkStatus();
  return DataLoss("index: %d chunks in a directory of %d files", nchunks, names.size());
}

// Returns true if the frame has as many bytes as when it was sealed. Others may have changed
// metadata.
bool HoldsAsManyBytes(const Checkpoint& checkpoint) {
  if (!checkpoint.seal.has_value()) return false;
  if (checkpoint.seal_holds) return true;
  const auto sealed = format::ParseFrameHeader(checkpoint.seal->header_copy);
  return sealed.ok() && sealed->nbytes == checkpoint.header.nbytes;
}

// A frame of one short chunk has that chunk's size in the header and its chunksize in the seal.
void RestoreChunksize(State& state) {
  const Checkpoint& checkpoint = *state.checkpoint;
  const bool one_chunk = state.nbytes > 0 && state.nbytes == state.chunksize;
  if (one_chunk && HoldsAsManyBytes(checkpoint)) {
    state.chunksize = std::max(state.chunksize, checkpoint.seal->chunksize);
  }
}

// Checks where the seal says that other bytes are. After the end of the file, which has `size`,
// there are no dead bytes any more, because a copy may end with the checkpoint.
absl::Status BoundSeal(int64_t size, Checkpoint& checkpoint) {
  format::Seal& seal = *checkpoint.seal;
  const int64_t end = checkpoint.trailer.end;
  const bool in_file = checkpoint.header.layout == Layout::kContiguous;
  if (in_file && seal.journal.has_value() && seal.journal->begin - end > kMaxChunkBytes) {
    return DataLoss("seal: the journal continues at byte %d, the trailer ends at %d",
                    seal.journal->begin, end);
  }
  for (format::DeadExtent& dead : seal.space.dead) {
    dead.bytes.end = std::min(dead.bytes.end, size);
  }
  std::erase_if(seal.space.dead,
                [](const format::DeadExtent& dead) { return dead.bytes.size() <= 0; });
  return absl::OkStatus();
}

// If reading takes long, reads index and trailer at once and announces the beginning of the
// journal. If they are large, or claim to be, the index is read page by page instead.
absl::Status LoadEnd(const format::FrameHeader& header, FrameView& region) {
  constexpr int64_t kFirstOfJournal = int64_t{1} << 20;
  constexpr int64_t kMaxEnd = int64_t{64} << 20;
  const std::optional<int64_t> begin = header.index_begin();
  if (region.read_ahead() == 0 || !begin.has_value() || *begin >= region.size() ||
      region.size() - *begin > kMaxEnd) {
    return absl::OkStatus();
  }
  FileRange end = {.offset = *begin, .size = region.size() + kFirstOfJournal - *begin};
  region.WillRead({&end, 1});
  return region.LoadEnd(*begin);
}

// Finds the state's chunks, and tells which commits may follow it.
absl::Status AttachSource(const FrameFile& source, const format::Trailer& trailer,
                          Bytes trailer_bytes, State& state) {
  if (source.directory() != nullptr) {
    state.chunk_source = std::make_shared<SparseChunkSource>(
        source.directory(), source.file(), state.region.in_place(), state.env()->max_mapped_files);
  }
  // The journal begins after the bytes that the seal covers.
  const Checkpoint& checkpoint = *state.checkpoint;
  JournalPosition& start = state.journal.emplace();
  const uint64_t nonce = checkpoint.seal.has_value() ? checkpoint.seal->nonce : 0;
  start.base = format::BaseIdentity(checkpoint.header, trailer_bytes, trailer.layers, nonce);
  start.base_known = checkpoint.trailer_damage.ok();
  start.last = start.base;
  if (checkpoint.seal.has_value()) start.generation = checkpoint.seal->generation;
  start.begin = checkpoint.header.frame_size;
  // Writers of object frames share a journal. If the objects were copied into a directory, it
  // stayed behind.
  const bool has_journal =
      source.directory() == nullptr || source.directory()->ObjectsIn(".").store != nullptr;
  if (checkpoint.seal_holds && checkpoint.seal->journal.has_value() && has_journal) {
    const format::InheritedJournal& inherited = *checkpoint.seal->journal;
    start.base = inherited.base;
    start.last = inherited.last;
    start.begin = std::max(start.begin, inherited.begin);
  }
  start.end = start.durable_end = start.begin;
  if (source.directory() != nullptr) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const void> registered, source.Register(start.generation));
  state.region.Retain(std::move(registered));
  SetContiguousSource(state);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StatePtr> LoadCheckpoint(const FrameFile& source,
                                        std::vector<std::byte> header_bytes,
                                        std::shared_ptr<const FrameContext> env, Chunk end) {
  CAIRN_ASSIGN_OR_RETURN(format::FrameHeader header, format::ParseFrameHeader(header_bytes));
  CAIRN_RETURN_IF_ERROR(CheckLayout(header, source));
  CAIRN_ASSIGN_OR_RETURN(const int64_t available, source.Size());
  CAIRN_RETURN_IF_ERROR(CheckFrameSize(header, format::kMinTrailerSize, available));
  const int64_t frame_size = header.frame_size;
  StateBuilder builder(std::move(env));
  Checkpoint& checkpoint = *builder.checkpoint;
  State& state = *builder.state;
  builder.SetHeader(std::move(header), std::move(header_bytes));
  checkpoint.source = source;
  CAIRN_ASSIGN_OR_RETURN(state.region, source.View(frame_size));
  if (end.bytes().empty()) {
    CAIRN_RETURN_IF_ERROR(LoadEnd(checkpoint.header, state.region));
  } else {
    state.region.KnowEnd(std::move(end));
  }

  CAIRN_ASSIGN_OR_RETURN(CheckpointEnd parts, LoadCheckpointEnd(state.region, checkpoint));
  if (checkpoint.seal_holds) CAIRN_RETURN_IF_ERROR(BoundSeal(available, checkpoint));
  CAIRN_RETURN_IF_ERROR(AttachIndex(std::move(parts.index), std::move(parts.seal), state));
  CAIRN_RETURN_IF_ERROR(AttachSource(source, parts.trailer, parts.trailer_bytes.bytes(), state));
  CAIRN_RETURN_IF_ERROR(CheckFileCount(state, source));
  RestoreChunksize(state);
  builder.metadata->vlmetalayers = VlMetalayersOf(parts.trailer, parts.trailer_bytes);
  return std::move(builder).Finish();
}

JournalSearch SearchFor(const FrameFile& source, bool alone) {
  // The bytes after a frame inside a larger file are not Cairn's, and may be many.
  if (source.origin() != 0) return JournalSearch::kNone;
  return alone || !IsBeingWritten(source) ? JournalSearch::kAll : JournalSearch::kNear;
}

StatePtr StateAfter(StatePtr state, const ReplayResult& replayed) {
  if (replayed.state != nullptr) state = replayed.state;
  if (!replayed.damage.has_value() && replayed.skipped.size() == 0) return state;
  auto marked = std::make_shared<State>(*state);
  marked->journal_skipped = replayed.skipped;
  marked->damage = replayed.damage;
  return marked;
}

absl::StatusOr<StatePtr> LoadFrom(const FrameFile& source, std::vector<std::byte> header_bytes,
                                  std::shared_ptr<const FrameContext> env,
                                  JournalFootprint* footprint, std::vector<uint64_t>& other_bases) {
  if (footprint != nullptr) *footprint = {};
  other_bases.clear();
  CAIRN_ASSIGN_OR_RETURN(StatePtr state,
                         LoadCheckpoint(source, std::move(header_bytes), std::move(env)));
  if (!state->journal.has_value()) return state;
  JournalReader reader(source, state->journal->end);
  const bool durable_only = state->env()->durable_only && footprint == nullptr;
  const std::optional<LoadedSummary> summary = LoadNewestSummary(source, *state, durable_only);
  CAIRN_ASSIGN_OR_RETURN(ReplayResult replayed,
                         ReplayJournal(source, *state, reader,
                                       {.search = SearchFor(source, footprint != nullptr),
                                        .durable_only = durable_only,
                                        .footprint = footprint,
                                        .summary = summary.has_value() ? &*summary : nullptr}));
  other_bases = std::move(replayed.other_bases);
  return StateAfter(std::move(state), replayed);
}

namespace {

// Returns the newest checkpoint that one of these journals follows. The header that leads there was
// durable.
absl::StatusOr<std::optional<format::EndedJournal>> FindOther(
    const FrameFile& source, const State& state, const std::vector<uint64_t>& other_bases) {
  absl::StatusOr<FoundTrailer> found =
      FindNewestTrailer(source, JournalBases(other_bases.begin(), other_bases.end()));
  if (absl::IsDataLoss(found.status())) return std::nullopt;
  CAIRN_RETURN_IF_ERROR(found.status());
  const std::optional<format::Seal>& seal = state.checkpoint->seal;
  const bool is_newer = found->seal.generation > state.generation() &&
                        (!seal.has_value() || seal->nonce == found->seal.nonce);
  if (!is_newer) return std::nullopt;
  return format::EndedJournal{.base = state.journal->base,
                              .last = state.generation(),
                              .generation = found->seal.generation,
                              .frame_size = found->end};
}

// Returns the newer checkpoint if something shows that the header is older than the file: a record
// where the journal ended, or commits that follow another checkpoint.
absl::StatusOr<std::optional<format::EndedJournal>> FindNewer(
    const FrameFile& source, const State& state, const std::vector<uint64_t>& other_bases) {
  if (state.damage.has_value() && state.damage->newer.has_value()) return state.damage->newer;
  if (!other_bases.empty()) return FindOther(source, state, other_bases);
  return std::nullopt;
}

// Continues from a newer checkpoint than the one that `state` follows, if the file shows that there
// is one. Its state is marked as damaged, because the next header that is written must lead there.
absl::StatusOr<StatePtr> FollowNewer(const FrameFile& source, JournalFootprint* footprint,
                                     StatePtr state, std::vector<uint64_t> other_bases) {
  CAIRN_ASSIGN_OR_RETURN(std::optional<format::EndedJournal> newer,
                         FindNewer(source, *state, other_bases));
  if (!newer.has_value()) return state;
  const uint64_t last = state->generation();
  bool is_followed = false;
  JournalFootprint taken;
  std::optional<format::EndedJournal> next = newer;
  for (int i = 0; i < kMaxFollowed && next.has_value(); ++i) {
    newer = std::exchange(next, std::nullopt);
    const auto header = HeaderOfTrailerAt(source, newer->frame_size);
    if (!header.ok()) break;
    const absl::StatusOr<StatePtr> found = LoadFrom(
        source, *header, state->env(), footprint != nullptr ? &taken : nullptr, other_bases);
    const bool fits = found.ok() && (*found)->checkpoint->seal_holds &&
                      (*found)->checkpoint->seal->generation == newer->generation;
    if (!fits) break;
    CAIRN_ASSIGN_OR_RETURN(next, FindNewer(source, **found, other_bases));
    if (next.has_value() && next->generation <= newer->generation) next.reset();
    is_followed = !next.has_value();
    if (is_followed) state = *found;
  }
  if (is_followed && footprint != nullptr) *footprint = std::move(taken);
  auto marked = std::make_shared<State>(*state);
  if (!is_followed) {
    marked->damage = {
        .bytes = {0, marked->header().header_len},
        .stranded = std::max<int64_t>(static_cast<int64_t>(newer->generation - last), 1)};
    return marked;
  }
  // Damage of the journal that follows comes first, because commits after it cannot be read.
  if (marked->damage.has_value()) return state;
  const auto commits = static_cast<int64_t>(marked->generation() - last);
  newer->last = last;
  marked->damage = {.bytes = {0, marked->header().header_len},
                    .stranded = std::max<int64_t>(commits, 1),
                    .newer = newer};
  return marked;
}

}  // namespace

absl::StatusOr<int64_t> LoadFrameSize(const FrameFile& source) {
  std::byte word[8];
  const absl::Status status = source.ReadAt(format::kFrameSizeOffset, word);
  // There was a header, so the file was truncated since.
  if (absl::IsOutOfRange(status)) return WithCode(absl::StatusCode::kDataLoss, status);
  CAIRN_RETURN_IF_ERROR(status);
  return static_cast<int64_t>(LoadBe<uint64_t>(word));
}

absl::StatusOr<StatePtr> LoadState(const FrameFile& source, std::shared_ptr<const FrameContext> env,
                                   JournalFootprint* footprint) {
  const bool alone = footprint != nullptr;
  const absl::StatusOr<Era> found = FindEra(source);
  // For a file that is not a frame, the parser of current frames tells what is wrong.
  if (!found.ok() && !absl::IsInvalidArgument(found.status())) return found.status();
  const Era era = found.value_or(Era::kCurrent);
  if (era != Era::kCurrent) return LoadLegacy(source, era, std::move(env));
  // A file that is not a frame is not locked.
  std::shared_ptr<const void> kept;
  if (found.ok()) {
    CAIRN_ASSIGN_OR_RETURN(kept, source.KeepSize());
  }
  for (int attempt = 1;; ++attempt) {
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> before, ReadCurrentHeader(source));
    std::vector<uint64_t> other_bases;
    absl::StatusOr<StatePtr> state = LoadFrom(source, before, env, footprint, other_bases);
    // A header that reads the same twice may still be half written, and so may pages of the file.
    // While a writer is at work, only damage that lasts counts.
    const bool damaged = !state.ok() || (*state)->damage.has_value() || !other_bases.empty() ||
                         !(*state)->checkpoint->trailer_damage.ok();
    // The writer may be gone by now, too.
    const bool is_written = damaged && !alone && IsBeingWritten(source);
    const bool again = damaged && !alone && (attempt == 1 || (attempt < kMaxDamaged && is_written));
    if (again && is_written) std::this_thread::sleep_for(kWriterPause);
    // The bytes that the state needs are registered now. If it is still the newest state, no writer
    // reclaims them.
    const absl::StatusOr<std::vector<std::byte>> after = ReadCurrentHeader(source);
    if (after.ok() && *after == before && !again) {
      if (!damaged || !state.ok()) return state;
      return FollowNewer(source, footprint, *std::move(state), std::move(other_bases));
    }
    if (attempt == kMaxAttempts) {
      return Unavailable("frame header: it changes each time that it is read");
    }
  }
}

}  // namespace cairn::frame
