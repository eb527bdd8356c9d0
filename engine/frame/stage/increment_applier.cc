#include "engine/frame/stage/increment_applier.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/content.h"
#include "engine/frame/stage/array_editor.h"
#include "engine/frame/stage/metadata_edits.h"

namespace cairn::frame {

using format::IncrementRun;

namespace {

bool IsBase(const IncrementRun& run) { return run.kind == IncrementRun::Kind::kBase; }

absl::Status CheckRuns(const std::vector<IncrementRun>& runs, int64_t base_chunks,
                       int64_t new_chunks, int64_t limit) {
  CAIRN_RETURN_IF_ERROR(format::CheckSpecials(runs));
  std::vector<bool> used(static_cast<size_t>(base_chunks));
  int64_t count = 0;
  for (const IncrementRun& run : runs) {
    if (!RangeFits(count, run.count, limit)) {
      return ResourceExhausted("increment: more than %d chunks", limit);
    }
    count += run.count;
    if (run.kind == IncrementRun::Kind::kNew) new_chunks -= run.count;
    if (!IsBase(run)) continue;
    if (!RangeFits(run.value, run.count, base_chunks)) {
      return DataLoss("increment: chunks from %d on, %d of them, of %d", run.value, run.count,
                      base_chunks);
    }
    for (int64_t i = run.value; i < run.value + run.count; ++i) {
      if (used[static_cast<size_t>(i)]) return DataLoss("increment: chunk %d is used twice", i);
      used[static_cast<size_t>(i)] = true;
    }
  }
  if (new_chunks == 0) return absl::OkStatus();
  return DataLoss("increment: its chunks are not as many as its runs ask for");
}

bool IsInOrder(const std::vector<IncrementRun>& runs) {
  int64_t next = 0;
  for (const IncrementRun& run : runs) {
    if (!IsBase(run)) continue;
    if (run.value < next) return false;
    next = run.value + run.count;
  }
  return true;
}

// The chunks that stay, in the order of the result, and after them those that go. The runs then
// begin where their chunks are.
std::vector<int64_t> OrderOf(std::vector<IncrementRun>& runs, int64_t base_chunks) {
  std::vector<int64_t> order;
  std::vector<bool> stays(static_cast<size_t>(base_chunks));
  for (IncrementRun& run : runs) {
    if (!IsBase(run)) continue;
    const int64_t begin = std::exchange(run.value, std::ssize(order));
    for (int64_t i = begin; i < begin + run.count; ++i) {
      order.push_back(i);
      stays[static_cast<size_t>(i)] = true;
    }
  }
  for (int64_t i = 0; i < base_chunks; ++i) {
    if (!stays[static_cast<size_t>(i)]) order.push_back(i);
  }
  return order;
}

}  // namespace

absl::Status IncrementApplier::DropShortChunk() {
  if (!staged_.partial.empty()) {
    staged_.DropPartialChunk();
    return absl::OkStatus();
  }
  const int64_t last = staged_.chunks.size() - 1;
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost cost, edits_.CostOf(last));
  staged_.Erase(last, 1, cost);
  return absl::OkStatus();
}

// Stores a chunk of another frame of this typesize as it is.
absl::StatusOr<format::IndexedChunk> IncrementApplier::TakeChunk(const State& from,
                                                                 int64_t nchunk) {
  ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored,
                         ReadStored(from, nchunk, VerifyPolicy::kAlways, scratch));
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(stored.bytes()));
  CAIRN_RETURN_IF_ERROR(CheckChunkNbytes(*edits_.base(), header.nbytes));
  const int32_t chunksize = staged_.header.chunksize;
  if (header.nbytes < 1 || (chunksize > 0 && header.nbytes > chunksize) ||
      header.typesize != chunk::HeaderTypesize(staged_.header.typesize)) {
    return DataLoss("increment: chunk %d of %d bytes and typesize %d does not fit the frame",
                    nchunk, header.nbytes, header.typesize);
  }
  CAIRN_RETURN_IF_ERROR(edits_.CheckCapacity(header.nbytes));
  absl::StatusOr<int64_t> entry = edits_.sink().Append(stored.bytes());
  CAIRN_RETURN_IF_ERROR(edits_.Remember(entry.status()));
  return format::IndexedChunk{.entry = {.value = *entry,
                                        .fingerprint = format::HashChunk(stored.bytes()),
                                        .cbytes = static_cast<int32_t>(std::ssize(stored.bytes()))},
                              .nbytes = header.nbytes};
}

// A special chunk that is number `nchunk` of a result of so many bytes.
absl::StatusOr<format::IndexedChunk> IncrementApplier::SpecialChunk(int64_t entry, int64_t nchunk,
                                                                    int64_t nbytes) const {
  if (!staged_.fixed_chunks()) {
    return DataLoss("increment: a special value in a frame of variable chunks");
  }
  const int64_t chunksize = staged_.header.chunksize;
  const int64_t size = std::clamp<int64_t>(nbytes - nchunk * chunksize, 1, chunksize);
  return format::IndexedChunk{.entry = {.value = entry}, .nbytes = static_cast<int32_t>(size)};
}

// Finds out what chunks of the base cost, from number `base` on, which now begin at `at`. Others
// may stand after a shorter one for now, so the places do not say what sizes they have.
absl::StatusOr<ChunkCost> IncrementApplier::CostOfBase(int64_t at, int64_t base, int64_t count) {
  CAIRN_ASSIGN_OR_RETURN(ChunkCost cost, edits_.CostOf(at, count));
  if (!staged_.fixed_chunks()) return cost;
  const bool has_short = base <= short_chunk_ && short_chunk_ < base + count;
  cost.nbytes = count * staged_.header.chunksize - (has_short ? missing_ : 0);
  return cost;
}

// Walks through the chunks that there are, and makes those of the result of them.
absl::Status IncrementApplier::ApplyRuns(const State& from, const std::vector<IncrementRun>& runs,
                                         int64_t base_chunks, int64_t nbytes) {
  int64_t at = 0;    // in the result
  int64_t base = 0;  // the chunk that stands there, as it was numbered
  int64_t taken = 0;
  const auto drop_before = [&](int64_t end) -> absl::Status {
    if (base == end) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const ChunkCost cost, CostOfBase(at, base, end - base));
    staged_.Erase(at, end - base, cost);
    base = end;
    return absl::OkStatus();
  };
  auto kept = runs.begin();  // the next run that stays
  for (auto run = runs.begin(); run != runs.end(); ++run) {
    if (IsBase(*run)) {
      CAIRN_RETURN_IF_ERROR(drop_before(run->value));
      at += run->count;
      base += run->count;
      continue;
    }
    if (kept <= run) kept = std::find_if(run, runs.end(), IsBase);
    const int64_t end = kept == runs.end() ? base_chunks : kept->value;
    for (int64_t i = 0; i < run->count; ++i, ++at) {
      CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk,
                             run->kind == IncrementRun::Kind::kNew
                                 ? TakeChunk(from, taken++)
                                 : SpecialChunk(run->value, at, nbytes));
      if (base < end) {
        CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, CostOfBase(at, base, 1));
        staged_.Replace(at, old, chunk);
        ++base;
      } else {
        staged_.Insert(at, chunk);
      }
    }
  }
  return drop_before(base_chunks);
}

absl::Status IncrementApplier::MakeResult(const State& view, const State& from,
                                          const format::Increment& increment) {
  const int64_t base_chunks = CompleteChunks(view);
  const int64_t new_chunks = CountChunks(from) - (increment.partial_added > 0 ? 1 : 0);
  CAIRN_RETURN_IF_ERROR(
      CheckRuns(increment.runs, base_chunks, new_chunks, edits_.base()->env()->limits.max_nchunks));
  if (increment.chunksize > 0) staged_.FixChunksize(increment.chunksize);
  if (ShortChunkNbytes(view) != increment.partial_kept) CAIRN_RETURN_IF_ERROR(DropShortChunk());
  std::vector<IncrementRun> runs = increment.runs;
  const bool ends_short = view.vlblocks && view.chunksize > 0 && view.nbytes % view.chunksize > 0;
  if (ends_short) {
    short_chunk_ = base_chunks - 1;
    missing_ = view.chunksize - view.nbytes % view.chunksize;
  }
  if (!IsInOrder(runs)) {
    const std::vector<int64_t> order = OrderOf(runs, base_chunks);
    CAIRN_RETURN_IF_ERROR(staged_.ReorderChunks(order));
    if (ends_short) short_chunk_ = std::ranges::find(order, short_chunk_) - order.begin();
  }
  CAIRN_RETURN_IF_ERROR(ApplyRuns(from, runs, base_chunks, increment.nbytes));
  CAIRN_RETURN_IF_ERROR(MetadataEdits(stager_).Apply(increment.layers));
  staged_.header.vlblocks = increment.vlblocks;
  if (increment.partial_added == 0) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> items,
                         ReadWholeChunk(from, new_chunks, VerifyPolicy::kAlways));
  return AppendShort(increment, items);
}

// Appends to the short chunk, which is padded in an array of one dimension.
absl::Status IncrementApplier::AppendShort(const format::Increment& increment, Bytes items) {
  const int32_t chunksize = staged_.header.chunksize;
  if (chunksize <= 0 || increment.nbytes % chunksize != 0) {
    edits_.set_is_array(false);
    return stager_.Append(items);
  }
  const int64_t capacity = ItemsOfChunk(*staged_.metadata) * staged_.header.typesize;
  if (capacity > chunksize || std::ssize(items) > capacity - increment.partial_kept) {
    return DataLoss("increment: %d and %d bytes in a chunk of %d", increment.partial_kept,
                    items.size(), capacity);
  }
  return ArrayEditor(stager_).AppendPadded(increment.partial_kept, items);
}

absl::Status IncrementApplier::Apply(const State& from) {
  CAIRN_ASSIGN_OR_RETURN(const format::Increment increment, ReadIncrement(from));
  {
    CAIRN_ASSIGN_OR_RETURN(const StatePtr view, stager_.View());
    CAIRN_ASSIGN_OR_RETURN(const uint64_t hash, HashContent(*view));
    if (hash == increment.result) return absl::OkStatus();
    if (hash != increment.base) {
      return FailedPrecondition(
          "the increment applies to content %016x (generation %d of its source); the frame has "
          "%016x: first apply those that were made before it, or make one since this content",
          increment.base, increment.since_generation, hash);
    }
    CAIRN_RETURN_IF_ERROR(MakeResult(*view, from, increment));
  }
  CAIRN_ASSIGN_OR_RETURN(const StatePtr view, stager_.View());
  CAIRN_ASSIGN_OR_RETURN(const uint64_t hash, HashContent(*view));
  if (hash != increment.result || view->nbytes != increment.nbytes) {
    return DataLoss("increment: expected content %016x of %d bytes, got %016x of %d",
                    increment.result, increment.nbytes, hash, view->nbytes);
  }
  edits_.set_is_array(!edits_.free_shapes() && IsArray(*view));
  staged_.needs_same_content = true;
  return absl::OkStatus();
}

}  // namespace cairn::frame
