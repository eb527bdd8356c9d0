#include "engine/frame/checkpoint/live_copy.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"

#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/checkpoint/commit_failures.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/read_ahead.h"
#include "engine/frame/read/stored_chunk.h"
#include "engine/frame/space/disk_reserve.h"
#include "engine/frame/stage/chunk_writer.h"
#include "engine/frame/state/initial_state.h"
#include "engine/storage/memory_file_system.h"

namespace cairn::frame {

namespace {

constexpr char kStopped[] = "copying the chunks was stopped";

absl::StatusOr<StoredChunk> ReadWithin(ReadBudget& budget, const State& state, int64_t nchunk,
                                       ScratchBuffer& scratch) {
  CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored,
                         ReadStored(state, nchunk, VerifyPolicy::kAlways, scratch));
  CAIRN_RETURN_IF_ERROR(budget.Spend(nchunk, std::ssize(stored.bytes())));
  return stored;
}

}  // namespace

std::optional<CopiedChunks::Place> CopiedChunks::Find(const IndexEntry& entry) const {
  const auto found = places_.find({entry.value, entry.fingerprint});
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

void CopiedChunks::Add(const IndexEntry& entry, Place place) {
  places_.try_emplace({entry.value, entry.fingerprint}, place);
}

absl::StatusOr<StagedState> SealChunks(const State& view, const StagedState& staged,
                                       PlaceChunk place, ChunkProgress progress,
                                       const CopiedChunks* copied) {
  StagedState sealed = staged;
  sealed.chunks = ChunkIndex();
  sealed.stored_bytes = 0;
  ScratchBuffer scratch;
  ReadBudget budget(view);
  ReadAhead ahead(view, 0, view.chunks.size());
  for (int64_t i = 0; i < view.chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(IndexEntry entry, view.chunks.Get(i));
    const auto known = copied == nullptr ? std::nullopt : copied->Find(entry);
    if (known.has_value()) {
      entry.value = known->value;
      *sealed.stored_bytes += known->cbytes;
    } else if (!format::IsSpecialEntry(entry.value)) {
      ahead.Reach(i);
      CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored, ReadWithin(budget, view, i, scratch));
      CAIRN_ASSIGN_OR_RETURN(entry.value, place(entry.value, stored.bytes()));
      if (entry.fingerprint == 0) entry.fingerprint = format::HashChunk(stored.bytes());
      *sealed.stored_bytes += std::ssize(stored.bytes());
    }
    sealed.chunks.Append(entry);
    if (!progress(i + 1)) return absl::CancelledError(kStopped);
  }
  return sealed;
}

ContiguousSink SinkInto(const std::shared_ptr<File>& file, int64_t header_len) {
  return ContiguousSink(file.get(), FrameFile::OfFile(file, 0, false), header_len, header_len);
}

absl::Status AddPending(const State& state, ChunkSink& sink, StagedState& staged) {
  if (state.partial.empty()) return absl::OkStatus();
  CompressionOptions compression = CompressionOf(state.header());
  compression.registry = state.env()->registry;
  FitToArray(state, compression);
  ChunkWriter writer(compression, true, state.env(), sink);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> items,
                         ReadWholeChunk(state, state.chunks.size(), VerifyPolicy::kAlways));
  CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk, writer.FromItems(items));
  staged.partial = {};
  staged.Insert(staged.chunks.size(), chunk);
  return absl::OkStatus();
}

namespace {

// Reserves space for the copy, so that a full disk shows before anything is copied.
absl::Status ReserveCopy(const StagedState& staged, const State& base, File& file) {
  if (!staged.stored_bytes.has_value()) return absl::OkStatus();
  const int64_t size = staged.header.header_len + *staged.stored_bytes + NeedOf(staged, base).index;
  const absl::Status status = file.Allocate(0, size);
  if (!absl::IsResourceExhausted(status)) return absl::OkStatus();
  return ResourceExhausted("%s; delete chunks and reclaim their space, or remove other files",
                           status.message());
}

}  // namespace

absl::StatusOr<std::unique_ptr<LiveCopy>> LiveCopy::Begin(const FrameLocation& location,
                                                          const FileIdentity& source,
                                                          int64_t header_len) {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::CreateBeside(location.files, location.path));
  ContiguousSink sink = SinkInto(file.file(), header_len);
  return absl::WrapUnique(new LiveCopy(source, std::move(file), std::move(sink)));
}

absl::StatusOr<int64_t> LiveCopy::CopyNew(const State& state, ChunkProgress progress) {
  CAIRN_RETURN_IF_ERROR(ReserveCopy(StagedState(state), state, *file_.file()));
  const int64_t before = copied_.size();
  ScratchBuffer scratch;
  ReadBudget budget(state);
  for (int64_t i = 0; i < state.chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, state.chunks.Get(i));
    if (!format::IsSpecialEntry(entry.value) && entry.fingerprint != 0 &&
        !copied_.Find(entry).has_value()) {
      CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored, ReadWithin(budget, state, i, scratch));
      CAIRN_ASSIGN_OR_RETURN(const int64_t value, sink_.Append(stored.bytes()));
      copied_.Add(entry, {.value = value, .cbytes = std::ssize(stored.bytes())});
    }
    if (!progress(i + 1)) return absl::CancelledError(kStopped);
  }
  CAIRN_RETURN_IF_ERROR(sink_.Flush());
  return copied_.size() - before;
}

absl::StatusOr<bool> LiveCopy::Fits(const CommittedFrame& frame) const {
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity identity, frame.file->Identity());
  return identity == source_;
}

absl::StatusOr<AtomicFile> LiveCopy::Finish(const CommittedFrame& frame, Stager& stager,
                                            ChunkProgress progress) && {
  CAIRN_RETURN_IF_ERROR(ReserveCopy(stager.staged(), *frame.state, *file_.file()));
  CAIRN_ASSIGN_OR_RETURN(const StatePtr view, stager.View());
  CAIRN_ASSIGN_OR_RETURN(
      const StagedState staged,
      SealChunks(
          *view, stager.staged(), [&](int64_t, Bytes chunk) { return sink_.Append(chunk); },
          progress, copied_.size() > 0 ? &copied_ : nullptr));
  CAIRN_RETURN_IF_ERROR(sink_.Flush());
  CAIRN_RETURN_IF_ERROR(
      StoreCheckpoint(*file_.file(), staged, frame.PlanCheckpoint(sink_.end(), true)));
  return std::move(file_);
}

absl::StatusOr<AtomicFile> CopyContiguous(const CommittedFrame& frame, Stager& stager,
                                          ChunkProgress progress) {
  absl::StatusOr<std::unique_ptr<LiveCopy>> copy =
      LiveCopy::Begin(frame.location(), {}, frame.state->header().header_len);
  // The file cannot be as open as the old one.
  if (absl::IsFailedPrecondition(copy.status())) return Refuse(copy.status());
  CAIRN_RETURN_IF_ERROR(copy.status());
  return std::move(**copy).Finish(frame, stager, progress);
}

absl::StatusOr<StagedState> CopyInto(const State& state, ChunkSink& sink, ChunkProgress progress) {
  CAIRN_RETURN_IF_ERROR(state.checkpoint->trailer_damage);
  CAIRN_ASSIGN_OR_RETURN(StagedState staged,
                         SealChunks(
                             state, StagedState(state),
                             [&](int64_t, Bytes chunk) { return sink.Append(chunk); }, progress));
  CAIRN_RETURN_IF_ERROR(AddPending(state, sink, staged));
  CAIRN_RETURN_IF_ERROR(sink.Flush());
  return staged;
}

CheckpointPlan PlanCopy(const State& state, int64_t index_begin) {
  CheckpointPlan plan{.index_begin = index_begin, .seal = {}, .pool = &state.env()->pool};
  plan.seal.nonce = RandomNumber();
  plan.seal.generation = state.generation();
  plan.seal.oldest_generation = state.generation();
  plan.seal.type =
      state.checkpoint->seal.has_value() ? state.checkpoint->seal->type : FingerprintType::k64Bit;
  return plan;
}

absl::StatusOr<std::vector<std::byte>> SerializeContiguous(const State& state) {
  const auto file = std::make_shared<storage::MemoryFile>();
  ContiguousSink sink = SinkInto(file, state.header().header_len);
  CAIRN_ASSIGN_OR_RETURN(StagedState staged, CopyInto(state, sink, NeverStop));
  staged.header.layout = Layout::kContiguous;
  CAIRN_RETURN_IF_ERROR(StoreCheckpoint(*file, staged, PlanCopy(state, sink.end())));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  std::vector<std::byte> out(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(file->ReadAt(0, out));
  return out;
}

}  // namespace cairn::frame
