#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/permutation.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/frame/read/stored_chunk.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// In a frame of fixed chunks.
int64_t Stager::NbytesOf(int64_t nchunk) const {
  const int64_t chunksize = staged_.header.chunksize;
  return std::min(chunksize, staged_.nbytes() - nchunk * chunksize);
}

absl::Status Stager::CheckInsert(int64_t nchunk, int64_t nbytes) const {
  const int64_t count = staged_.nchunks();
  const int64_t chunksize = staged_.header.chunksize;
  CAIRN_RETURN_IF_ERROR(CheckMayRecut(nchunk == count ? "append" : "insert chunk"));
  if (nchunk < 0 || nchunk > count) return OutOfRange("insert at chunk %d of %d", nchunk, count);
  if (nbytes < 1 || nbytes > kMaxChunkBytes) {
    return InvalidArgument("a chunk has 1 to %d bytes, got %d", kMaxChunkBytes, nbytes);
  }
  CAIRN_RETURN_IF_ERROR(CheckCapacity(nbytes));
  if (chunksize <= 0) return absl::OkStatus();
  if (nbytes > chunksize || (nchunk < count && nbytes != chunksize)) {
    return InvalidArgument("chunk of %d bytes in a frame of chunks of %d", nbytes, chunksize);
  }
  if (nchunk == count && staged_.nbytes() % chunksize != 0) {
    return FailedPrecondition("the last chunk is shorter than %d bytes: no chunk can follow",
                              chunksize);
  }
  return absl::OkStatus();
}

absl::Status Stager::CheckUpdate(int64_t nchunk, int64_t nbytes) const {
  const int64_t count = staged_.nchunks();
  const int64_t chunksize = staged_.header.chunksize;
  if (nchunk < 0 || nchunk >= count) return OutOfRange("chunk %d of %d", nchunk, count);
  if (nbytes < 1 || nbytes > kMaxChunkBytes) {
    return InvalidArgument("a chunk has 1 to %d bytes, got %d", kMaxChunkBytes, nbytes);
  }
  if (is_array_ && nbytes != chunksize) {
    return FailedPrecondition("chunk %d: the array needs chunks of %d bytes, got %d", nchunk,
                              chunksize, nbytes);
  }
  const bool last = nchunk + 1 == count;
  if (!staged_.fixed_chunks() || nbytes == chunksize || (last && nbytes < chunksize)) {
    return absl::OkStatus();
  }
  return InvalidArgument("chunk of %d bytes in a frame of chunks of %d", nbytes, chunksize);
}

absl::StatusOr<chunk::Header> Stager::HeaderOf(const IndexEntry& entry) {
  ScratchBuffer scratch;
  if (sink_.IsPending(entry.value)) CAIRN_RETURN_IF_ERROR(Remember(sink_.Flush()));
  if (base_->chunk_source->Locate(entry.value).ok()) {
    if (base_->header().layout == Layout::kSparse) {
      return base_->chunk_source->ReadHeader(entry.value, scratch);
    }
    // By a system call: in a large frame the page is hardly ever mapped, and the rest of the chunk
    // is not read.
    const ContiguousChunkSource unmapped(base_->region.Unmapped(), base_->header().header_len,
                                         base_->chunks_end);
    return unmapped.ReadHeader(entry.value, scratch);
  }
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const ChunkSource> source, sink_.Source(*base_));
  return source->ReadHeader(entry.value, scratch);
}

absl::StatusOr<ChunkCost> Stager::CostOf(int64_t nchunk) {
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, staged_.chunks.Get(nchunk));
  ChunkCost cost;
  if (staged_.fixed_chunks()) cost.nbytes = NbytesOf(nchunk);
  if (format::IsSpecialEntry(entry.value)) {
    if (staged_.fixed_chunks()) return cost;
    return DataLoss(
        "chunk %d: the size of a special chunk is not known in a frame of variable "
        "chunks",
        nchunk);
  }
  if (staged_.fixed_chunks() && entry.cbytes > 0) {
    cost.stored = entry.cbytes;
    return cost;
  }
  const absl::StatusOr<chunk::Header> header = HeaderOf(entry);
  if (!staged_.fixed_chunks()) {
    if (!header.ok()) return AnnotateChunk(nchunk, header.status());
    cost.nbytes = header->nbytes;
  }
  // A damaged chunk can go where its size is known without it.
  cost.stored = header.ok() ? std::optional<int64_t>(header->cbytes) : std::nullopt;
  return cost;
}

absl::StatusOr<ChunkCost> Stager::CostOf(int64_t first, int64_t count) {
  ChunkCost sum;
  for (int64_t i = first; i < first + count; ++i) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkCost cost, CostOf(i));
    sum.nbytes += cost.nbytes;
    sum.stored = sum.stored.has_value() && cost.stored.has_value()
                     ? std::optional(*sum.stored + *cost.stored)
                     : std::nullopt;
  }
  return sum;
}

// With variable chunks the header's nbytes and the chunks' own headers may disagree. Refuse an edit
// that would make the total negative, or zero with chunks left.
absl::Status Stager::CheckSum(int64_t nchunks, const ChunkCost& less, int64_t more) const {
  if (staged_.fixed_chunks()) return absl::OkStatus();
  const int64_t rest = staged_.header.nbytes - less.nbytes;
  const std::optional<int64_t> sum = CheckedAdd(rest, more);
  if (rest >= 0 && sum.has_value() && (*sum == 0) == (nchunks == 0)) return absl::OkStatus();
  return DataLoss("frame: its chunks do not hold the %d bytes that its header says",
                  staged_.header.nbytes);
}

absl::Status Stager::InsertMade(int64_t nchunk, int64_t nbytes, bool vlblocks, Make make) {
  CAIRN_RETURN_IF_ERROR(chunk_writer_.CheckOptions());
  CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  if (nchunk < staged_.chunks.size()) CAIRN_RETURN_IF_ERROR(EncodeDirty());
  FixChunksize(static_cast<int32_t>(nbytes));
  staged_.header.vlblocks = vlblocks;
  return StageInsert(nchunk, make());
}

absl::Status Stager::UpdateMade(int64_t nchunk, int64_t nbytes, Make make) {
  CAIRN_RETURN_IF_ERROR(chunk_writer_.CheckOptions());
  CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, CostOf(nchunk));
  CAIRN_RETURN_IF_ERROR(CheckSum(staged_.chunks.size(), old, nbytes));
  CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk, Remembered(make()));
  Replace(nchunk, old, chunk);
  return absl::OkStatus();
}

absl::Status Stager::InsertChunk(int64_t nchunk, Bytes items) {
  CAIRN_RETURN_IF_ERROR(CheckTakesItems());
  CAIRN_RETURN_IF_ERROR(CheckInsert(nchunk, std::ssize(items)));
  return InsertMade(nchunk, std::ssize(items), false,
                    [&] { return chunk_writer_.FromItems(items); });
}

absl::Status Stager::InsertCompressed(int64_t nchunk, Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk));
  CAIRN_RETURN_IF_ERROR(CheckChunk(header));
  CAIRN_RETURN_IF_ERROR(CheckInsert(nchunk, header.nbytes));
  CAIRN_ASSIGN_OR_RETURN(const ImportedChunk imported, chunk_writer_.Import(chunk, header));
  return InsertMade(nchunk, header.nbytes, header.vlblocks,
                    [&] { return chunk_writer_.FromImported(imported); });
}

absl::Status Stager::UpdateCompressed(int64_t nchunk, Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk));
  CAIRN_RETURN_IF_ERROR(CheckChunk(header));
  CAIRN_RETURN_IF_ERROR(CheckUpdate(nchunk, header.nbytes));
  CAIRN_ASSIGN_OR_RETURN(const ImportedChunk imported, chunk_writer_.Import(chunk, header));
  if (is_array_ && !imported.stored.empty()) CAIRN_RETURN_IF_ERROR(CheckBlocks(nchunk, header));
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  return UpdateMade(nchunk, header.nbytes, [&] { return chunk_writer_.FromImported(imported); });
}

absl::Status Stager::DeleteChunks(int64_t first, int64_t count) {
  const int64_t nchunks = staged_.nchunks();
  if (count < 0 || !RangeFits(first, count, nchunks)) {
    return OutOfRange("delete chunks from %d on, %d of them, of %d", first, count, nchunks);
  }
  if (count == 0) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(CheckMayRecut("delete chunks"));
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  // Pending items that go need not become a chunk first: perhaps their head cannot be read.
  const bool with_partial = first + count > staged_.chunks.size();
  if (with_partial) {
    --count;
  } else {
    CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  }
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, CostOf(first, count));
  CAIRN_RETURN_IF_ERROR(CheckSum(nchunks - count, old, 0));
  if (with_partial) staged_.DropPartialChunk();
  if (count > 0) staged_.Erase(first, count, old);
  return absl::OkStatus();
}

absl::Status Stager::ReorderChunks(std::span<const int64_t> order) {
  const int64_t nchunks = staged_.nchunks();
  CAIRN_RETURN_IF_ERROR(CheckMayRecut("reorder"));
  if (static_cast<int64_t>(order.size()) != nchunks) {
    return InvalidArgument("reorder: expected %d chunk numbers, got %d", nchunks, order.size());
  }
  if (const auto wrong = FindNonPermutation(order); wrong.has_value()) {
    if (!RangeFits(*wrong, 1, nchunks)) return OutOfRange("chunk %d of %d", *wrong, nchunks);
    return InvalidArgument("reorder: duplicate chunk number %d", *wrong);
  }
  if (nchunks == 0) return absl::OkStatus();
  if (staged_.fixed_chunks() && NbytesOf(nchunks - 1) < staged_.header.chunksize &&
      order.back() != nchunks - 1) {
    return InvalidArgument("reorder: the last chunk is shorter than %d bytes and must stay last",
                           staged_.header.chunksize);
  }
  CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  std::vector<IndexEntry> entries;
  entries.reserve(order.size());
  for (const int64_t nchunk : order) {
    CAIRN_ASSIGN_OR_RETURN(entries.emplace_back(), staged_.chunks.Get(nchunk));
  }
  staged_.ReorderChunks(order, std::move(entries));
  return absl::OkStatus();
}

absl::Status Stager::MoveChunk(int64_t nchunk, const IndexEntry& moved) {
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost cost, CostOf(nchunk));
  staged_.Replace(nchunk, cost, {.entry = moved, .nbytes = static_cast<int32_t>(cost.nbytes)});
  return absl::OkStatus();
}

}  // namespace cairn::frame
