#include "engine/frame/replay/commit_check.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/permutation.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

namespace {

using format::EraseEdit;
using format::IndexedChunk;
using format::InsertEdit;
using format::ReorderEdit;
using format::ReplaceEdit;

// Checks a chunk that has, or had, a file of its own.
absl::Status CheckFile(const State& before, const IndexedChunk& chunk) {
  CAIRN_RETURN_IF_ERROR(before.chunk_source->Locate(chunk.entry.value).status());
  if (chunk.entry.cbytes > 0 && chunk.entry.fingerprint != 0) return absl::OkStatus();
  return DataLoss("commit: a chunk of %d bytes %s", chunk.entry.cbytes,
                  before.chunk_source->Describe(chunk.entry.value));
}

// Returns the bytes that the checkpoint's index leaves to chunks.
int64_t AreaBeforeIndex(const State& state) {
  return state.index().size() > 0 ? state.index().begin - state.header().header_len : 0;
}

// Checks the edits in order, each with the number of chunks that it meets. Not thread-safe.
class EditChecker {
 public:
  EditChecker(const State& before, const JournaledCommit& commit)
      : before_(before),
        commit_(commit),
        nchunks_(before.chunks.size()),
        room_(commit.record_begin - commit.begin),
        area_(AreaBeforeIndex(before) - before.journal->reused) {}

  absl::Status Check(const format::ChunkEdit& edit);
  // Checks what the edits have made, after the last of them.
  absl::Status CheckResult() const;

 private:
  absl::Status CheckChunksize() const;
  absl::Status CheckPlaced(const IndexedChunk& chunk);

  const State& before_;
  const JournaledCommit& commit_;
  int64_t nchunks_;
  bool was_empty_ = nchunks_ == 0;
  int32_t largest_ = 0;  // decoded bytes of a chunk, since there was none
  int64_t room_;         // bytes for the chunks that follow
  int64_t area_;         // bytes for chunks before the index
};

absl::Status EditChecker::CheckPlaced(const IndexedChunk& chunk) {
  const int32_t chunksize = commit_.record.totals->chunksize;
  const bool fixed = chunksize != format::kChunksizeVariable;
  if (chunk.nbytes < 1) return DataLoss("commit: a chunk of %d bytes", chunk.nbytes);
  largest_ = std::max(largest_, chunk.nbytes);
  if (format::IsSpecialEntry(chunk.entry.value)) {
    // Chunks of the commit may have had one size in between.
    const bool was_fixed = before_.chunksize != format::kChunksizeVariable || was_empty_;
    return fixed || was_fixed ? format::SpecialOfEntry(chunk.entry.value).status()
                              : DataLoss("commit: a special value in a frame of variable chunks");
  }
  if (before_.header().layout == Layout::kSparse) return CheckFile(before_, chunk);
  const std::optional<int64_t> begin = CheckedAdd(before_.header().header_len, chunk.entry.value);
  const int64_t room = commit_.record_begin - commit_.begin;
  if (begin.has_value() && chunk.entry.cbytes > 0 && chunk.entry.fingerprint != 0) {
    // All of them may have to be read, so their sum is bounded.
    int64_t* left = nullptr;
    if (RangeFits(*begin - commit_.begin, chunk.entry.cbytes, room)) left = &room_;
    if (RangeFits(chunk.entry.value, chunk.entry.cbytes, AreaBeforeIndex(before_))) left = &area_;
    if (left != nullptr) {
      *left -= chunk.entry.cbytes;
      return *left >= 0 ? absl::OkStatus() : DataLoss("commit: its chunks overlap");
    }
  }
  return DataLoss("commit: a chunk of %d bytes at offset %d", chunk.entry.cbytes,
                  chunk.entry.value);
}

absl::Status EditChecker::Check(const format::ChunkEdit& edit) {
  if (const auto* insert = std::get_if<InsertEdit>(&edit)) {
    if (!RangeFits(insert->nchunk, 0, nchunks_)) {
      return DataLoss("commit: insert at chunk %d of %d", insert->nchunk, nchunks_);
    }
    ++nchunks_;
    return CheckPlaced(insert->chunk);
  }
  if (const auto* replace = std::get_if<ReplaceEdit>(&edit)) {
    if (RangeFits(replace->nchunk, 1, nchunks_)) return CheckPlaced(replace->chunk);
    return DataLoss("commit: update of chunk %d of %d", replace->nchunk, nchunks_);
  }
  if (const auto* erase = std::get_if<EraseEdit>(&edit)) {
    if (!RangeFits(erase->first, erase->count, nchunks_)) {
      return DataLoss("commit: delete %d chunks from %d on, of %d", erase->count, erase->first,
                      nchunks_);
    }
    nchunks_ -= erase->count;
    if (nchunks_ == 0) {
      was_empty_ = true;
      largest_ = 0;
    }
    return absl::OkStatus();
  }
  const std::vector<uint32_t>& order = std::get<ReorderEdit>(edit).order;
  if (std::ssize(order) != nchunks_) {
    return DataLoss("commit: order of %d chunks of %d", order.size(), nchunks_);
  }
  if (!FindNonPermutation(std::span<const uint32_t>(order)).has_value()) return absl::OkStatus();
  return DataLoss("commit: order is not a permutation of the chunks");
}

absl::Status EditChecker::CheckChunksize() const {
  const int32_t old = before_.chunksize;
  const int32_t now = commit_.record.totals->chunksize;
  const bool frees = old > 0 && now == format::kChunksizeVariable;
  const bool may_set = was_empty_ || old == format::kChunksizeUnknown;
  const bool sets = may_set && now >= format::kChunksizeVariable && now <= kMaxChunkBytes;
  if (now == old || frees || sets) return absl::OkStatus();
  return DataLoss("commit: chunksize: expected %d, got %d", old, now);
}

absl::Status EditChecker::CheckResult() const {
  CAIRN_RETURN_IF_ERROR(CheckChunksize());
  const format::CommitTotals& totals = *commit_.record.totals;
  if (totals.chunksize > 0 && largest_ > totals.chunksize) {
    return DataLoss("commit: a chunk of %d bytes", largest_);
  }
  if (nchunks_ == totals.nchunks) return absl::OkStatus();
  return DataLoss("commit: expected %d chunks, got %d", nchunks_, totals.nchunks);
}

// Checks an edit of a layer. `names` are those of the vlmetalayers that the edit meets.
absl::Status CheckLayer(const State& before, const format::LayerEdit& edit, LayerNames& names) {
  using Kind = format::LayerEdit::Kind;
  // CheckLayerName is stricter than this, but frames of other writers may hold names it refuses,
  // and those can be edited too.
  if (edit.name.size() > kMaxMetalayerName) {
    return DataLoss("commit: a layer's name of %d bytes", edit.name.size());
  }
  if (edit.kind == Kind::kSetMetalayer) {
    const auto it = std::ranges::find(before.metadata->metalayers, edit.name, &Metalayer::name);
    if (it != before.metadata->metalayers.end() && it->content.size() == edit.content.size()) {
      return absl::OkStatus();
    }
    return DataLoss("commit: metalayer %s of %d bytes", edit.name, edit.content.size());
  }
  if (edit.kind == Kind::kDeleteVlmeta) {
    names.erase(edit.name);
  } else {
    names.insert(edit.name);
  }
  if (IsReservedLayer(edit.name) || names.size() > kMaxVlMetalayers) {
    return DataLoss("commit: vlmetalayer %s, of %d", edit.name, names.size());
  }
  return absl::OkStatus();
}

absl::Status CheckHead(const State& before, const JournaledCommit& commit) {
  if (!commit.record.partial.head.has_value()) return absl::OkStatus();
  const IndexedChunk& head = *commit.record.partial.head;
  if (head.nbytes < 1) return DataLoss("commit: the pending items' chunk of %d bytes", head.nbytes);
  if (format::IsSpecialEntry(head.entry.value))
    return format::SpecialOfEntry(head.entry.value).status();
  if (before.header().layout == Layout::kSparse) {
    return before.chunk_source->Locate(head.entry.value).status();
  }
  const int64_t room = commit.record_begin - before.header().header_len;
  if (RangeFits(head.entry.value, head.entry.cbytes, room)) return absl::OkStatus();
  return DataLoss("commit: the pending items' chunk of %d bytes at offset %d", head.entry.cbytes,
                  head.entry.value);
}

// Checks that this many chunks and the pending items can hold this many bytes.
absl::Status CheckTotals(const State& before, const format::CommitTotals& totals,
                         const PartialChunk& partial) {
  if (totals.nbytes < partial.nbytes() || totals.stored_bytes < -1) {
    return DataLoss("commit: %d chunks of %d bytes", totals.nchunks, totals.nbytes);
  }
  const int64_t chunksize = totals.chunksize;
  const int64_t in_chunks = totals.nbytes - partial.nbytes();
  bool fits = false;
  if (chunksize == format::kChunksizeVariable) {
    fits = partial.empty() && (totals.nchunks > 0) == (in_chunks > 0);
  } else if (chunksize == format::kChunksizeUnknown) {
    fits = totals.nbytes == 0 && totals.nchunks == 0;
  } else {
    const bool full = partial.empty() || in_chunks % chunksize == 0;
    const bool has_room =
        partial.is_padded() ? partial.nbytes() == chunksize : partial.nbytes() < chunksize;
    fits = full && has_room && CeilDiv(in_chunks, chunksize) == totals.nchunks;
  }
  if (!fits) {
    return DataLoss("commit: %d chunks and %d pending bytes hold %d bytes", totals.nchunks,
                    partial.nbytes(), totals.nbytes);
  }
  if (totals.nchunks <= before.env()->limits.max_nchunks) return absl::OkStatus();
  return ResourceExhausted("journal: %d chunks pass the limit of %d", totals.nchunks,
                           before.env()->limits.max_nchunks);
}

}  // namespace

format::CommitTotals TotalsAfter(const State& before, const PartialChunk& partial) {
  return {.nchunks = before.chunks.size(),
          .nbytes = before.nbytes - before.partial.nbytes() + partial.nbytes(),
          .stored_bytes = before.stored_bytes.value_or(-1),
          .chunksize = before.chunksize,
          .vlblocks = before.vlblocks};
}

absl::Status CheckCommit(const State& before, const JournaledCommit& commit,
                         const PartialChunk& partial, std::optional<LayerNames>& names) {
  const format::CommitRecord& record = commit.record;
  EditChecker checker(before, commit);
  for (const format::ChunkEdit& edit : record.chunks) CAIRN_RETURN_IF_ERROR(checker.Check(edit));
  CAIRN_RETURN_IF_ERROR(checker.CheckResult());
  if (!record.layers.empty() && !names.has_value()) {
    names.emplace();
    for (const VlMetalayer& layer : before.metadata->vlmetalayers) names->insert(layer.name);
  }
  for (const format::LayerEdit& edit : record.layers) {
    CAIRN_RETURN_IF_ERROR(CheckLayer(before, edit, *names));
  }
  CAIRN_RETURN_IF_ERROR(CheckHead(before, commit));
  return CheckTotals(before, *record.totals, partial);
}

absl::StatusOr<bool> ChunksMatchFingerprints(const State& before, const JournaledCommit& commit,
                                             const FrameFile& source, const JournalReader& reader) {
  std::vector<std::byte> read;
  for (const format::ChunkEdit& edit : commit.record.chunks) {
    const IndexedChunk* chunk = format::StoredBy(edit);
    if (chunk == nullptr) continue;
    const int64_t begin = before.header().header_len + chunk->entry.value;
    Bytes bytes = reader.Seen(begin, chunk->entry.cbytes);
    // The bytes that were seen may be from before the commit. The file shows more by now.
    if (bytes.empty() || format::HashChunk(bytes) != chunk->entry.fingerprint) {
      read.resize(static_cast<size_t>(chunk->entry.cbytes));
      CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(begin, read));
      if (got < read.size() || format::HashChunk(read) != chunk->entry.fingerprint) return false;
    }
    before.env()->verified.Add(before.checkpoint_id(), chunk->entry);
  }
  return true;
}

absl::StatusOr<bool> FilesMatchFingerprints(const State& before, const JournaledCommit& commit) {
  ScratchBuffer scratch;
  for (const format::ChunkEdit& edit : commit.record.chunks) {
    const IndexedChunk* chunk = format::StoredBy(edit);
    if (chunk == nullptr) continue;
    const absl::StatusOr<StoredChunk> stored =
        before.chunk_source->Read(chunk->entry.value, ReadMode::kCopied, scratch);
    // A power cut may have left no file, or only a part of it.
    if (absl::IsDataLoss(stored.status())) return false;
    CAIRN_RETURN_IF_ERROR(stored.status());
    if (format::HashChunk(stored->bytes()) != chunk->entry.fingerprint) return false;
    before.env()->verified.Add(before.checkpoint_id(), chunk->entry);
  }
  return true;
}

std::optional<JournaledCommit> AsNext(const FoundRecord& record, const JournalPosition& end,
                                      const ReplayChecks& rules) {
  absl::StatusOr<format::CommitRecord> commit = format::ParseCommit(record.bytes, record.begin);
  if (!commit.ok()) return std::nullopt;
  const format::CommitLinks& links = commit->links;
  const bool linked = end.base_known
                          ? links.base == end.base && links.generation == end.generation + 1 &&
                                (links.previous == end.last || !rules.check_prev)
                          : links.previous == links.base;
  // Before a checkpoint that was written during commits, less was durable.
  const bool durable_fits = links.durable_end >= 0 && links.durable_end <= record.begin;
  if (!linked || !durable_fits || links.generation > format::kMaxGeneration) return std::nullopt;
  const bool own_receipt = record.receipt.has_value() && record.receipt->base == links.base &&
                           record.receipt->generation == links.generation;
  return JournaledCommit{.record = *std::move(commit),
                         .begin = end.end,
                         .record_begin = record.begin,
                         .end = record.end(),
                         .checksum = format::StoredChecksum(record.bytes),
                         .receipt = own_receipt ? record.receipt : std::nullopt};
}

}  // namespace cairn::frame
