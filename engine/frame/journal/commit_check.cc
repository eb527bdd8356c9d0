#include "engine/frame/journal/commit_check.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

namespace {

using format::EraseEdit;
using format::InsertEdit;
using format::PlacedChunk;
using format::ReorderEdit;
using format::ReplaceEdit;

// Goes through the edits with the number of chunks that each one meets.
class EditChecker {
 public:
  EditChecker(const State& before, const JournaledCommit& following)
      : before_(before),
        following_(following),
        nchunks_(before.chunks.size()),
        room_(following.record_begin - following.begin) {}

  absl::Status Check(const format::ChunkEdit& edit) {
    return std::visit([this](const auto& one) { return CheckOne(one); }, edit);
  }
  int64_t nchunks() const { return nchunks_; }

 private:
  absl::Status CheckOne(const InsertEdit& edit);
  absl::Status CheckOne(const ReplaceEdit& edit);
  absl::Status CheckOne(const EraseEdit& edit);
  absl::Status CheckOne(const ReorderEdit& edit);
  absl::Status CheckPlaced(const PlacedChunk& chunk);

  const State& before_;
  const JournaledCommit& following_;
  int64_t nchunks_;
  int64_t room_;  // for chunks that are still to come
};

absl::Status EditChecker::CheckPlaced(const PlacedChunk& chunk) {
  const int32_t chunksize = following_.record.totals.chunksize;
  const bool fixed = chunksize != format::kChunksizeVariable;
  if (chunk.nbytes < 1 || (fixed && chunk.nbytes > chunksize)) {
    return DataLoss("batch: a chunk of %d bytes", chunk.nbytes);
  }
  if (format::IsSpecialEntry(chunk.entry)) {
    return fixed ? format::SpecialOfEntry(chunk.entry).status()
                 : DataLoss("batch: a special value in a frame of variable chunks");
  }
  const std::optional<int64_t> begin = CheckedAdd(before_.header().header_len, chunk.entry);
  const int64_t room = following_.record_begin - following_.begin;
  if (begin.has_value() && chunk.cbytes > 0 && chunk.fingerprint != 0 &&
      RangeFits(*begin - following_.begin, chunk.cbytes, room)) {
    // All of them may have to be read.
    room_ -= chunk.cbytes;
    return room_ >= 0 ? absl::OkStatus() : DataLoss("batch: its chunks overlap");
  }
  return DataLoss("batch: a chunk of %d bytes at offset %d", chunk.cbytes, chunk.entry);
}

absl::Status EditChecker::CheckOne(const InsertEdit& edit) {
  if (edit.nchunk < 0 || edit.nchunk > nchunks_) {
    return DataLoss("batch: insert at chunk %d of %d", edit.nchunk, nchunks_);
  }
  ++nchunks_;
  return CheckPlaced(edit.chunk);
}

absl::Status EditChecker::CheckOne(const ReplaceEdit& edit) {
  if (edit.nchunk < 0 || edit.nchunk >= nchunks_) {
    return DataLoss("batch: update of chunk %d of %d", edit.nchunk, nchunks_);
  }
  return CheckPlaced(edit.chunk);
}

absl::Status EditChecker::CheckOne(const EraseEdit& edit) {
  if (!RangeFits(edit.first, edit.count, nchunks_)) {
    return DataLoss("batch: delete %d chunks from %d on, of %d", edit.count, edit.first, nchunks_);
  }
  nchunks_ -= edit.count;
  return absl::OkStatus();
}

absl::Status EditChecker::CheckOne(const ReorderEdit& edit) {
  if (std::ssize(edit.order) != nchunks_) {
    return DataLoss("batch: order of %d chunks of %d", edit.order.size(), nchunks_);
  }
  std::vector<bool> seen(edit.order.size());
  for (const uint32_t nchunk : edit.order) {
    if (nchunk >= seen.size() || seen[nchunk]) return DataLoss("batch: order is no permutation");
    seen[nchunk] = true;
  }
  return absl::OkStatus();
}

// `names` are those of the vlmetalayers that the edit meets.
absl::Status CheckLayer(const State& before, const format::LayerEdit& edit, LayerNames& names) {
  using Kind = format::LayerEdit::Kind;
  // Not all that an edit must not bring: also what a frame held before can be deleted or set.
  if (edit.name.size() > kMaxMetalayerName) {
    return DataLoss("batch: a layer's name of %d bytes", edit.name.size());
  }
  if (edit.kind == Kind::kSetMetalayer) {
    const auto it = std::ranges::find(before.metadata->metalayers, edit.name, &Metalayer::name);
    if (it != before.metadata->metalayers.end() && it->content.size() == edit.content.size()) {
      return absl::OkStatus();
    }
    return DataLoss("batch: metalayer %s of %d bytes", edit.name, edit.content.size());
  }
  if (edit.kind == Kind::kDeleteVlmeta) {
    names.erase(edit.name);
  } else {
    names.insert(edit.name);
  }
  if (IsReservedLayer(edit.name) || names.size() > kMaxVlMetalayers) {
    return DataLoss("batch: vlmetalayer %s, of %d", edit.name, names.size());
  }
  return absl::OkStatus();
}

absl::Status CheckHead(const State& before, const JournaledCommit& following) {
  if (!following.record.tail.head.has_value()) return absl::OkStatus();
  const PlacedChunk& head = *following.record.tail.head;
  if (head.nbytes < 1) return DataLoss("batch: the tail's chunk of %d bytes", head.nbytes);
  if (format::IsSpecialEntry(head.entry)) return format::SpecialOfEntry(head.entry).status();
  const int64_t room = following.record_begin - before.header().header_len;
  if (RangeFits(head.entry, head.cbytes, room)) return absl::OkStatus();
  return DataLoss("batch: the tail's chunk of %d bytes at offset %d", head.cbytes, head.entry);
}

absl::Status CheckChunksize(const State& before, const format::CommitTotals& totals) {
  const int32_t old = before.chunksize;
  const bool fixes = old == format::kChunksizeUnknown && totals.chunksize > 0 &&
                     totals.chunksize <= kMaxChunkBytes;
  if (totals.chunksize == old || fixes) return absl::OkStatus();
  return DataLoss("batch: chunksize: expected %d, got %d", old, totals.chunksize);
}

// Whether so many chunks and the tail can hold so many bytes.
absl::Status CheckTotals(const State& before, const format::CommitTotals& totals,
                         const PartialChunk& tail) {
  if (totals.nbytes < tail.nbytes() || totals.stored_bytes < -1) {
    return DataLoss("batch: %d chunks of %d bytes", totals.nchunks, totals.nbytes);
  }
  const int64_t chunksize = totals.chunksize;
  const int64_t in_chunks = totals.nbytes - tail.nbytes();
  bool fits = false;
  if (chunksize == format::kChunksizeVariable) {
    fits = tail.empty() && (totals.nchunks > 0) == (in_chunks > 0);
  } else if (chunksize == format::kChunksizeUnknown) {
    fits = totals.nbytes == 0 && totals.nchunks == 0;
  } else {
    const bool whole = tail.empty() || in_chunks % chunksize == 0;
    fits = whole && tail.nbytes() < chunksize && CeilDiv(in_chunks, chunksize) == totals.nchunks;
  }
  if (!fits) {
    return DataLoss("batch: %d chunks and a tail of %d hold %d bytes", totals.nchunks,
                    tail.nbytes(), totals.nbytes);
  }
  if (totals.nchunks <= before.env()->limits.max_nchunks) return absl::OkStatus();
  return ResourceExhausted("journal: %d chunks pass the limit of %d", totals.nchunks,
                           before.env()->limits.max_nchunks);
}

const PlacedChunk* PlacedBy(const format::ChunkEdit& edit) {
  if (const auto* insert = std::get_if<InsertEdit>(&edit)) return &insert->chunk;
  if (const auto* replace = std::get_if<ReplaceEdit>(&edit)) return &replace->chunk;
  return nullptr;
}

}  // namespace

absl::Status CheckCommit(const State& before, const JournaledCommit& following,
                         const PartialChunk& tail, std::optional<LayerNames>& names) {
  const format::CommitRecord& batch = following.record;
  CAIRN_RETURN_IF_ERROR(CheckChunksize(before, batch.totals));
  EditChecker checker(before, following);
  for (const format::ChunkEdit& edit : batch.chunks) CAIRN_RETURN_IF_ERROR(checker.Check(edit));
  if (checker.nchunks() != batch.totals.nchunks) {
    return DataLoss("batch: expected %d chunks, got %d", checker.nchunks(), batch.totals.nchunks);
  }
  if (!batch.layers.empty() && !names.has_value()) {
    names.emplace();
    for (const VlMetalayer& layer : before.metadata->vlmetalayers) names->insert(layer.name);
  }
  for (const format::LayerEdit& edit : batch.layers) {
    CAIRN_RETURN_IF_ERROR(CheckLayer(before, edit, *names));
  }
  CAIRN_RETURN_IF_ERROR(CheckHead(before, following));
  return CheckTotals(before, batch.totals, tail);
}

absl::StatusOr<bool> ChunksMatchFingerprints(const State& before, const JournaledCommit& following,
                                             const FrameFile& source, const JournalReader& finder) {
  std::vector<std::byte> read;
  for (const format::ChunkEdit& edit : following.record.chunks) {
    const PlacedChunk* chunk = PlacedBy(edit);
    if (chunk == nullptr || format::IsSpecialEntry(chunk->entry)) continue;
    const int64_t begin = before.header().header_len + chunk->entry;
    Bytes bytes = finder.Seen(begin, chunk->cbytes);
    // What was seen may be from before the batch: then the file shows more by now.
    if (bytes.empty() || format::HashChunk(bytes) != chunk->fingerprint) {
      read.resize(static_cast<size_t>(chunk->cbytes));
      CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(begin, read));
      if (got < read.size() || format::HashChunk(read) != chunk->fingerprint) return false;
    }
    before.env()->verified.Add(before.checkpoint_id(),
                               {.value = chunk->entry, .fingerprint = chunk->fingerprint});
  }
  return true;
}

}  // namespace cairn::frame
