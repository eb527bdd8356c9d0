#include "engine/frame/commit/live_copy.h"

#include <utility>

#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/commit/checkpoint_encoder.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/read_budget.h"
#include "engine/frame/stage/chunk_writer.h"
#include "engine/frame/state/initial_state.h"
#include "engine/storage/memory_file.h"

namespace cairn::frame {

absl::StatusOr<StagedState> CopyLiveChunks(const State& view, const StagedState& draft,
                                           ContiguousSink& log, ChunkProgress progress) {
  StagedState copy = draft;
  copy.chunks = ChunkIndex();
  copy.stored_bytes = 0;
  ScratchBuffer scratch;
  ReadBudget budget(view);
  for (int64_t i = 0; i < view.chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(IndexEntry entry, view.chunks.Get(i));
    if (!format::IsSpecialEntry(entry.value)) {
      CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored,
                             ReadStored(view, i, VerifyPolicy::kAlways, scratch));
      CAIRN_RETURN_IF_ERROR(budget.Spend(i, std::ssize(stored.bytes())));
      CAIRN_ASSIGN_OR_RETURN(entry.value, log.Append(stored.bytes()));
      if (entry.fingerprint == 0) entry.fingerprint = format::HashChunk(stored.bytes());
      *copy.stored_bytes += static_cast<int64_t>(stored.bytes().size());
    }
    copy.chunks.Append(entry);
    if (!progress(i + 1)) return absl::CancelledError("copying the chunks was stopped");
  }
  CAIRN_RETURN_IF_ERROR(log.Flush());
  return copy;
}

namespace {

// Makes the last chunk of what waits in the tail.
absl::Status AddTail(const State& state, ContiguousSink& log, StagedState& draft) {
  if (state.tail.empty()) return absl::OkStatus();
  CompressionOptions compression = CompressionOf(state.header());
  compression.registry = state.env()->registry;
  ChunkWriter maker(compression, {.typesize = state.header().typesize, .fixed_chunks = true},
                    state.env(), log);
  ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(const ChunkReader tail, ChunkReader::Open(state, state.chunks.size(),
                                                                   VerifyPolicy::kAlways, scratch));
  std::vector<std::byte> items(static_cast<size_t>(tail.nbytes()));
  CAIRN_RETURN_IF_ERROR(tail.Read(0, items));
  CAIRN_ASSIGN_OR_RETURN(const StagedChunk chunk, maker.FromItems(items));
  draft.tail = {};
  draft.Insert(draft.chunks.size(), chunk);
  return log.Flush();
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> SerializeContiguous(const State& state) {
  CAIRN_RETURN_IF_ERROR(state.checkpoint->trailer_damage);
  const auto file = std::make_shared<storage::MemoryFile>();
  const int64_t header_len = state.header().header_len;
  ContiguousSink log(file.get(), FrameFile::OfFile(file, 0, false),
                     {.header_len = header_len, .position = header_len});
  CAIRN_ASSIGN_OR_RETURN(StagedState draft,
                         CopyLiveChunks(state, StagedState(state), log, NeverStop));
  CAIRN_RETURN_IF_ERROR(AddTail(state, log, draft));
  draft.header.layout = Layout::kContiguous;
  CheckpointPlan plan;
  plan.index_begin = log.end();
  plan.seal.nonce = RandomNumber();
  plan.seal.generation = state.generation();
  plan.seal.oldest_generation = state.generation();
  plan.seal.type =
      state.checkpoint->seal.has_value() ? state.checkpoint->seal->type : FingerprintType::k64Bit;
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes,
                         EncodeCheckpoint(draft, plan, &state.env()->pool));
  CAIRN_RETURN_IF_ERROR(file->WriteAt(plan.index_begin, bytes.tail));
  CAIRN_RETURN_IF_ERROR(file->WriteAt(0, bytes.header));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  std::vector<std::byte> out(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(file->ReadAt(0, out));
  return out;
}

}  // namespace cairn::frame
