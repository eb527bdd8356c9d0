#include "tools/cairn/streams/chunk_copier.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/chunk.h"
#include "cairn/recover.h"
#include "tools/cairn/io/io.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

// Returns true if the new frame does not take the chunk, and false if reading or writing failed.
bool IsRefusal(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ||
         absl::IsUnimplemented(status);
}

// Returns the value that a chunk repeats, or nothing for the other special values.
Bytes RepeatedValue(const Chunk& chunk, const ChunkInfo& info) {
  if (info.special != SpecialValue::kRepeat) return {};
  return chunk.bytes()
      .first(static_cast<size_t>(info.cbytes))
      .subspan(static_cast<size_t>(info.header_size));
}

}  // namespace

absl::Status ChunkCopier::CopySpecial(const Chunk& chunk, const ChunkInfo& info) {
  if (info.nbytes % typesize_ != 0) return absl::InvalidArgumentError("part of an item");
  // NaNs of 4 bytes and of 8 bytes differ in their bytes.
  if (info.special == SpecialValue::kNans && info.typesize != typesize_) {
    return absl::InvalidArgumentError("NaNs of another size");
  }
  return to_.AppendSpecial(info.special, info.nbytes / typesize_, RepeatedValue(chunk, info));
}

absl::Status ChunkCopier::CopyItems(int64_t nchunk, int32_t size) {
  const Buffer items(static_cast<size_t>(size));
  RETURN_IF_ERROR(from_.ReadChunk(nchunk, items.bytes()));
  return to_.Append(items.bytes());
}

// Returns true if GetChunk may have made this memcpyed chunk, of pending items or of a chunk of a
// legacy frame, instead of reading it from the file.
bool ChunkCopier::MayBeMade(int64_t nchunk) const {
  const absl::StatusOr<ChunkEntry> entry = from_.GetEntry(nchunk);
  return !entry.ok() || !entry->stored() || from_.info().era != Era::kCurrent;
}

absl::Status ChunkCopier::Copy(int64_t nchunk) {
  ASSIGN_OR_RETURN(const Chunk chunk, from_.GetChunk(nchunk));
  ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(chunk.bytes()));
  nbytes_ += info.nbytes;
  const bool special = info.special != SpecialValue::kNone;
  const bool made = info.memcpyed && !special && !info.vlblocks && MayBeMade(nchunk);
  const bool as_it_is = mode_ == CopyMode::kAsTheyAre && !made &&
                        (!special || info.special == SpecialValue::kRepeat || info.vlblocks);
  if (!as_it_is && !special) return CopyItems(nchunk, info.nbytes);
  const absl::Status status =
      as_it_is ? to_.AppendCompressed(chunk.bytes()) : CopySpecial(chunk, info);
  // Such a chunk exists for its blocks, which differ in size. Recompressing it would lose them.
  return IsRefusal(status) && !info.vlblocks ? CopyItems(nchunk, info.nbytes) : status;
}

absl::Status ChunkCopier::Check(int64_t nchunk) const {
  ASSIGN_OR_RETURN(const int32_t size, from_.ChunkNbytes(nchunk));
  const Buffer items(static_cast<size_t>(size));
  return from_.ReadChunk(nchunk, items.bytes());
}

absl::Status ChunkCopier::Skip(int64_t nchunk, Bytes fill, const CompressionOptions& compression) {
  const absl::StatusOr<int32_t> size = from_.ChunkNbytes(nchunk);
  const FrameInfo& info = from_.info();
  if (!size.ok() && !info.chunksize) {
    return absl::Status(size.status().code(),
                        absl::StrCat(size.status().message(),
                                     "; nothing else says how large it was: `cairn recover "
                                     "--salvage` leaves a hole of what the others leave"));
  }
  const int32_t nbytes = size.ok() ? *size : *info.chunksize;
  nbytes_ += nbytes;
  if (!fill.empty()) {
    return to_.AppendSpecial(SpecialValue::kRepeat, nbytes / typesize_, fill);
  }
  CompressionOptions options = compression;
  // A single block is enough unless an array asks for others.
  if (!from_.array()) options.blocksize = 0;
  ASSIGN_OR_RETURN(const std::vector<std::byte> hole, MakeHole(nbytes, options, info.vlblocks));
  return to_.AppendCompressed(hole);
}

}  // namespace cairn::tool
