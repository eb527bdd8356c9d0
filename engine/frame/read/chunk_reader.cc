#include "engine/frame/read/chunk_reader.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"

namespace cairn::frame {

namespace {

chunk::DecodeContext ContextOf(const State& state) {
  chunk::DecodeContext context = state.env()->MakeDecodeContext();
  context.frame_typesize = state.header().typesize;
  context.whole_block_bitshuffle = state.checkpoint->whole_block_bitshuffle;
  if (state.metadata->array.has_value()) context.blockshape = state.metadata->array->blockshape;
  return context;
}

// Returns the size that the frame gives for a stored chunk, or 0 if chunks differ in size.
int32_t FixedNbytes(const State& state, int64_t nchunk) {
  if (IsPartialChunk(state, nchunk)) {
    return state.partial.is_padded() ? state.partial.padded_to : state.partial.head->nbytes;
  }
  const int64_t chunksize = state.chunksize;
  if (chunksize <= 0) return 0;
  return static_cast<int32_t>(std::min(chunksize, state.nbytes - nchunk * chunksize));
}

// Undoes the DELTA of 2015. Bytes of the chunk from `begin` on were stored without the reference's.
void AddReference(Bytes reference, int64_t begin, MutableBytes dst) {
  if (begin >= static_cast<int64_t>(reference.size())) return;
  reference = reference.subspan(static_cast<size_t>(begin));
  for (size_t i = 0; i < std::min(reference.size(), dst.size()); ++i) {
    const int sum = std::to_integer<int>(dst[i]) + std::to_integer<int>(reference[i]);
    dst[i] = static_cast<std::byte>(sum);
  }
}

}  // namespace

absl::Status CheckChunkNbytes(const State& state, int64_t nbytes) {
  const int64_t most = std::min<int64_t>(state.env()->limits.max_chunk_nbytes, kMaxChunkBytes);
  if (nbytes <= most) return absl::OkStatus();
  return ResourceExhausted("nbytes %d passes the limit of %d for a chunk", nbytes, most);
}

bool DependsOnFrame(const State& state, const chunk::Header& header) {
  if (state.checkpoint->delta_reference.has_value()) return true;
  // The two rules differ only for blocks whose number of items is not a multiple of 8.
  const auto is_odd = [&](int32_t block) { return block / header.typesize % 8 != 0; };
  if (!header.has_blocks() ||
      !(is_odd(header.blocksize) || is_odd(header.nbytes % header.blocksize))) {
    return false;
  }
  return state.checkpoint->whole_block_bitshuffle && header.version == chunk::kVersionBeta &&
         std::ranges::find(header.filters, Filter::kBitShuffle, &FilterStage::filter) !=
             header.filters.end();
}

absl::StatusOr<ChunkReader> ChunkReader::Open(const State& state, int64_t nchunk,
                                              VerifyPolicy policy, ScratchBuffer& scratch) {
  CAIRN_RETURN_IF_ERROR(CheckChunkNumber(state, nchunk));
  const bool partial = IsPartialChunk(state, nchunk);
  absl::StatusOr<ChunkReader> reader = ChunkReader(&state.env()->pool);
  if (!partial || state.partial.head.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkRef ref, FindChunk(state, nchunk));
    CAIRN_RETURN_IF_ERROR(reader->OpenStored(state, ref, policy, scratch));
  }
  if (partial) reader->SetPartial(state.partial);
  return reader;
}

absl::StatusOr<ChunkReader> ChunkReader::Open(const State& state, const ChunkRef& ref,
                                              VerifyPolicy policy, ScratchBuffer& scratch) {
  absl::StatusOr<ChunkReader> reader = ChunkReader(&state.env()->pool);
  CAIRN_RETURN_IF_ERROR(reader->OpenStored(state, ref, policy, scratch));
  return reader;
}

void ChunkReader::SetPartial(const PartialChunk& partial) {
  if (partial.head.has_value()) nbytes_ = partial.head->nbytes;
  pending_ = partial.items.span();
  padded_to_ = partial.padded_to;
}

absl::Status ChunkReader::OpenSpecial(const State& state, int64_t entry, int32_t nbytes) {
  CAIRN_ASSIGN_OR_RETURN(const SpecialValue special, format::SpecialOfEntry(entry));
  if (nbytes == 0) {
    return DataLoss("the size of a special chunk is not known in a frame of variable chunks");
  }
  content_ =
      chunk::SpecialContent{.kind = special, .typesize = state.header().typesize, .value = {}};
  nbytes_ = nbytes;
  return absl::OkStatus();
}

absl::Status ChunkReader::OpenStored(const State& state, const ChunkRef& ref, VerifyPolicy policy,
                                     ScratchBuffer& scratch) {
  const int64_t nchunk = ref.nchunk;
  const int32_t fixed = FixedNbytes(state, nchunk);
  CAIRN_RETURN_IF_ERROR(AnnotateChunk(nchunk, CheckChunkNbytes(state, fixed)));
  if (format::IsSpecialEntry(ref.found.entry.value)) {
    return AnnotateChunk(nchunk, OpenSpecial(state, ref.found.entry.value, fixed));
  }
  absl::StatusOr<StoredChunk> stored = ReadStored(state, ref, policy, scratch);
  if (!stored.ok()) return std::move(stored).status();
  auto& decoder = content_.emplace<chunk::Decoder>();
  CAIRN_RETURN_IF_ERROR(
      AnnotateChunk(nchunk, decoder.Open(stored->bytes(), stored->header, ContextOf(state))));
  nbytes_ = decoder.nbytes();
  CAIRN_RETURN_IF_ERROR(AnnotateChunk(nchunk, CheckChunkNbytes(state, nbytes_)));
  if (fixed != 0 && nbytes_ != fixed) {
    return DataLoss("chunk %d: nbytes: expected %d, got %d", nchunk, fixed, nbytes_);
  }
  stored_ = std::move(stored->chunk);
  if (state.checkpoint->delta_reference.has_value())
    reference_ = *state.checkpoint->delta_reference;
  return absl::OkStatus();
}

absl::Status ChunkReader::Read(int64_t begin, MutableBytes dst) const {
  const chunk::WorkspacePool::Lease lease = pool_->Acquire();
  return Read(begin, dst, *lease);
}

absl::Status ChunkReader::Read(int64_t begin, MutableBytes dst, chunk::Workspace& workspace) const {
  if (!RangeFits(begin, static_cast<int64_t>(dst.size()), nbytes())) {
    return OutOfRange("%d bytes from byte %d on, of a chunk of %d", dst.size(), begin, nbytes());
  }
  const int64_t from_chunk = std::clamp<int64_t>(nbytes_ - begin, 0, std::ssize(dst));
  const int64_t from_items = std::clamp<int64_t>(filled() - begin, 0, std::ssize(dst));
  FillBytes(dst.subspan(static_cast<size_t>(from_items)), std::byte{0});
  if (from_items > from_chunk) {
    const int64_t skipped = std::max<int64_t>(begin - nbytes_, 0);
    const auto size = static_cast<size_t>(from_items - from_chunk);
    CopyBytes(pending_.subspan(static_cast<size_t>(skipped), size),
              dst.subspan(static_cast<size_t>(from_chunk)));
  }
  dst = dst.first(static_cast<size_t>(from_chunk));
  if (dst.empty()) return absl::OkStatus();
  if (const auto* special = std::get_if<chunk::SpecialContent>(&content_)) {
    return chunk::FillSpecial(*special, begin, dst);
  }
  CAIRN_RETURN_IF_ERROR(std::get_if<chunk::Decoder>(&content_)->DecodeRange(begin, dst, workspace));
  AddReference(reference_, begin, dst);
  return absl::OkStatus();
}

absl::Status ChunkReader::ReadFields(chunk::ItemRange items, const chunk::ItemFields& fields,
                                     chunk::Workspace& workspace) const {
  const int64_t in_content = std::max<int64_t>(0, nbytes_ - items.begin) / fields.item_size();
  chunk::ItemRange part = items;
  part.count = reference_.empty() ? std::min(items.count, in_content) : 0;
  if (const auto* special = std::get_if<chunk::SpecialContent>(&content_)) {
    CAIRN_RETURN_IF_ERROR(chunk::FillSpecialFields(*special, part, fields, workspace.gathered));
  } else if (const auto* decoder = std::get_if<chunk::Decoder>(&content_)) {
    CAIRN_RETURN_IF_ERROR(decoder->DecodeFields(part, fields, workspace));
  } else {
    part.count = 0;
  }
  items.begin += part.count * fields.item_size();
  items.first += part.count;
  items.count -= part.count;
  return fields.Read(items, workspace.gathered,
                     [&](int64_t begin, MutableBytes dst) { return Read(begin, dst, workspace); });
}

absl::StatusOr<int32_t> ChunkNbytes(const State& state, int64_t nchunk) {
  CAIRN_RETURN_IF_ERROR(CheckChunkNumber(state, nchunk));
  if (IsPartialChunk(state, nchunk)) return static_cast<int32_t>(state.partial.nbytes());
  if (const int32_t fixed = FixedNbytes(state, nchunk); fixed != 0) return fixed;
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, state.chunks.Get(nchunk));
  ScratchBuffer scratch;
  const absl::StatusOr<chunk::Header> header = state.chunk_source->ReadHeader(entry.value, scratch);
  if (!header.ok()) return AnnotateChunk(nchunk, header.status());
  return header->nbytes;
}

absl::StatusOr<std::vector<std::byte>> ReadWholeChunk(const State& state, int64_t nchunk,
                                                      VerifyPolicy policy) {
  ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(const ChunkReader chunk,
                         ChunkReader::Open(state, nchunk, policy, scratch));
  std::vector<std::byte> items(static_cast<size_t>(chunk.nbytes()));
  CAIRN_RETURN_IF_ERROR(AnnotateChunk(nchunk, chunk.Read(0, items)));
  return items;
}

}  // namespace cairn::frame
