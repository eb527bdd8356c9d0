#include "engine/frame/stage/special_appender.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"

namespace cairn::frame {

// Returns the bytes of a short last chunk that repeats `special` too. The chunk leaves the index:
// the run that follows begins with it, and no item of either has to be stored.
int64_t SpecialAppender::TakeShortRun(SpecialValue special) {
  const format::FrameHeader& header = staged_.header;
  const int64_t nbytes = header.nbytes % header.chunksize;
  const bool whole_items = header.chunksize % header.typesize == 0;
  if (!staged_.partial.empty() || nbytes == 0 || !format::IsIndexSpecial(special) || !whole_items)
    return 0;
  const int64_t last = staged_.chunks.size() - 1;
  const absl::StatusOr<IndexEntry> entry = staged_.chunks.Get(last);
  if (!entry.ok() || entry->value != format::EntryOfSpecial(special)) return 0;
  staged_.Erase(last, 1, {.nbytes = nbytes});
  return nbytes;
}

absl::Status SpecialAppender::StageItems(SpecialValue special, int64_t nbytes, Bytes value) {
  constexpr int64_t kPieceSize = 1 << 20;
  for (int64_t done = 0; done < nbytes; done += kPieceSize) {
    std::vector<std::byte> items(static_cast<size_t>(std::min(kPieceSize, nbytes - done)));
    CAIRN_RETURN_IF_ERROR(chunk::FillSpecial(
        {.kind = special, .typesize = staged_.header.typesize, .value = value}, done, items));
    CAIRN_RETURN_IF_ERROR(pending_.Append(items, staged_.header.chunksize, 0));
  }
  return absl::OkStatus();
}

absl::Status SpecialAppender::StageChunks(SpecialValue special, int64_t nbytes, Bytes value) {
  if (!staged_.fixed_chunks())
    return edits_.Append(edits_.chunk_writer().FromSpecial(special, nbytes, value));
  if (staged_.header.chunksize % staged_.header.typesize != 0) {
    return StageItems(special, nbytes, value);
  }
  const int64_t chunksize = staged_.header.chunksize;
  if (!staged_.partial.empty()) {
    const auto filled = staged_.partial.nbytes();
    const int64_t n = std::min(nbytes, chunksize - filled);
    CAIRN_RETURN_IF_ERROR(StageItems(special, n, value));
    nbytes -= n;
  }
  for (; nbytes >= chunksize; nbytes -= chunksize) {
    CAIRN_RETURN_IF_ERROR(
        edits_.Append(edits_.chunk_writer().FromSpecial(special, chunksize, value)));
  }
  if (nbytes == 0) return absl::OkStatus();
  // A short stored chunk would be dead as soon as more items follow it.
  return format::IsIndexSpecial(special)
             ? edits_.Append(edits_.chunk_writer().FromSpecial(special, nbytes, value))
             : StageItems(special, nbytes, value);
}

absl::Status SpecialAppender::AppendSpecial(SpecialValue special, int64_t nitems, Bytes value) {
  const int64_t typesize = staged_.header.typesize;
  const std::optional<int64_t> nbytes = CheckedMul(nitems, typesize);
  if (nitems < 0 || !nbytes.has_value()) return InvalidArgument("%d items", nitems);
  const int64_t value_size = special == SpecialValue::kRepeat ? typesize : 0;
  if (special == SpecialValue::kNone || std::ssize(value) != value_size) {
    return InvalidArgument("special value %d takes a value of %d bytes, got %d",
                           static_cast<int>(special), value_size, value.size());
  }
  if (special == SpecialValue::kNans && typesize != 4 && typesize != 8) {
    return InvalidArgument("NaNs need a typesize of 4 or 8, got %d", typesize);
  }
  if (nitems > 0) CAIRN_RETURN_IF_ERROR(edits_.CheckMayRecut("append"));
  CAIRN_RETURN_IF_ERROR(edits_.CheckTakesItems());
  if (!staged_.fixed_chunks() && *nbytes > kMaxChunkBytes) {
    return InvalidArgument("a chunk has at most %d bytes, got %d", kMaxChunkBytes, *nbytes);
  }
  if (staged_.nbytes() % typesize != 0) {
    return FailedPrecondition("the last item is not whole: no special values can follow");
  }
  CAIRN_RETURN_IF_ERROR(edits_.CheckCapacity(*nbytes));
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  if (nitems == 0) return absl::OkStatus();
  staged_.FixChunksize(edits_.chunksize());
  int64_t run = *nbytes;
  if (staged_.fixed_chunks()) {
    run += TakeShortRun(special);
    CAIRN_RETURN_IF_ERROR(pending_.Reopen(staged_.header.nbytes % staged_.header.chunksize));
  }
  staged_.header.vlblocks = false;
  return edits_.Remember(StageChunks(special, run, value));
}

}  // namespace cairn::frame
