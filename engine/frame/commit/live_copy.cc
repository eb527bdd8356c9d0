#include "engine/frame/commit/live_copy.h"

#include <memory>

#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/checkpoint/disk_reserve.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/stored_chunk.h"
#include "engine/frame/stage/chunk_writer.h"
#include "engine/frame/state/initial_state.h"
#include "engine/storage/memory_file_system.h"

namespace cairn::frame {

absl::StatusOr<StagedState> SealChunks(
    const State& view, const StagedState& staged,
    absl::FunctionRef<absl::StatusOr<int64_t>(int64_t entry, Bytes chunk)> place,
    ChunkProgress progress) {
  StagedState sealed = staged;
  sealed.chunks = ChunkIndex();
  sealed.stored_bytes = 0;
  ScratchBuffer scratch;
  ReadBudget budget(view);
  for (int64_t i = 0; i < view.chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(IndexEntry entry, view.chunks.Get(i));
    if (!format::IsSpecialEntry(entry.value)) {
      CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored,
                             ReadStored(view, i, VerifyPolicy::kAlways, scratch));
      CAIRN_RETURN_IF_ERROR(budget.Spend(i, std::ssize(stored.bytes())));
      CAIRN_ASSIGN_OR_RETURN(entry.value, place(entry.value, stored.bytes()));
      if (entry.fingerprint == 0) entry.fingerprint = format::HashChunk(stored.bytes());
      *sealed.stored_bytes += std::ssize(stored.bytes());
    }
    sealed.chunks.Append(entry);
    if (!progress(i + 1)) return absl::CancelledError("copying the chunks was stopped");
  }
  return sealed;
}

ContiguousSink SinkInto(const std::shared_ptr<File>& file, int64_t header_len) {
  return ContiguousSink(file.get(), FrameFile::OfFile(file, 0, false), header_len, header_len);
}

namespace {

// Makes the last chunk of the pending items.
absl::Status AddPending(const State& state, ChunkSink& sink, StagedState& staged) {
  if (state.partial.empty()) return absl::OkStatus();
  CompressionOptions compression = CompressionOf(state.header());
  compression.registry = state.env()->registry;
  ChunkWriter writer(compression, true, state.env(), sink);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> items,
                         ReadWholeChunk(state, state.chunks.size(), VerifyPolicy::kAlways));
  CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk, writer.FromItems(items));
  staged.partial = {};
  staged.Insert(staged.chunks.size(), chunk);
  return absl::OkStatus();
}

// A full disk should show before anything is copied.
absl::Status ReserveCopy(const StagedState& staged, const State& base, File& file) {
  if (!staged.stored_bytes.has_value()) return absl::OkStatus();
  const int64_t size = staged.header.header_len + *staged.stored_bytes + NeedOf(staged, base).index;
  const absl::Status status = file.ReservePastEnd(size);
  if (!absl::IsResourceExhausted(status)) return absl::OkStatus();
  return ResourceExhausted("%s; delete chunks and Reclaim their space, or remove other files",
                           status.message());
}

}  // namespace

absl::StatusOr<AtomicFile> CopyContiguous(const CommittedFrame& frame, Stager& stager,
                                          ChunkProgress progress) {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file,
                         AtomicFile::CreateBeside(frame.location().files, frame.location().path));
  CAIRN_RETURN_IF_ERROR(ReserveCopy(stager.staged(), *frame.state, *file.file()));
  ContiguousSink sink = SinkInto(file.file(), frame.state->header().header_len);
  CAIRN_ASSIGN_OR_RETURN(const StatePtr view, stager.View());
  CAIRN_ASSIGN_OR_RETURN(const StagedState staged,
                         SealChunks(
                             *view, stager.staged(),
                             [&](int64_t, Bytes chunk) { return sink.Append(chunk); }, progress));
  CAIRN_RETURN_IF_ERROR(sink.Flush());
  CAIRN_RETURN_IF_ERROR(
      StoreCheckpoint(*file.file(), staged, frame.PlanCheckpoint(sink.end(), true)));
  return file;
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
