#include "engine/frame/replay/commit_step.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/status.h"

namespace cairn::frame {

CommitStep StepOf(const JournaledCommit& commit) {
  return {.links = commit.record.links,
          .checksum = commit.checksum,
          .end = commit.end,
          .receipt = commit.receipt,
          .chunk_edits = std::ssize(commit.record.chunks),
          .layer_edits = std::ssize(commit.record.layers)};
}

PartialChunk PartialAfter(const PartialChunk& before, const format::CommitRecord& commit) {
  const format::PartialEdit& edit = commit.partial;
  PartialChunk partial = edit.replaces ? PartialChunk() : before;
  if (edit.head.has_value()) partial.head = edit.head;
  if (edit.padded && commit.totals.has_value()) partial.padded_to = commit.totals->chunksize;
  partial.items.Append(edit.items);
  return partial;
}

absl::Status ApplyEdit(const format::ChunkEdit& edit, ChunkIndex& chunks) {
  if (const auto* insert = std::get_if<format::InsertEdit>(&edit)) {
    chunks.Insert(insert->nchunk, insert->chunk.entry);
  } else if (const auto* replace = std::get_if<format::ReplaceEdit>(&edit)) {
    chunks.Replace(replace->nchunk, replace->chunk.entry);
  } else if (const auto* erase = std::get_if<format::EraseEdit>(&edit)) {
    chunks.Erase(erase->first, erase->count);
  } else {
    std::vector<IndexEntry> entries;
    for (const uint32_t nchunk : std::get<format::ReorderEdit>(edit).order) {
      CAIRN_ASSIGN_OR_RETURN(entries.emplace_back(), chunks.Get(nchunk));
    }
    chunks = ChunkIndex(std::move(entries));
  }
  return absl::OkStatus();
}

void Advance(const CommitStep& step, JournalPosition& end) {
  // A summary leads over many commits at once, so the generation may grow by more than one.
  CAIRN_DCHECK(!end.base_known || step.links.generation > end.generation);
  CAIRN_DCHECK(step.end > end.end);
  end.base_known = true;
  end.base = step.links.base;
  end.last = step.checksum;
  end.generation = step.links.generation;
  end.end = step.end;
  end.durable_end = std::max(end.durable_end, step.links.durable_end);
  end.receipt = step.receipt;
  // Every commit costs a reader something, even an empty one.
  end.edits += 1 + step.chunk_edits + step.layer_edits;
  end.reused += step.reused;
}

void Extend(const format::Receipt& receipt, int64_t end, JournalPosition& journal) {
  CAIRN_DCHECK(end > journal.end);
  journal.receipt = receipt;
  journal.end = end;
}

}  // namespace cairn::frame
