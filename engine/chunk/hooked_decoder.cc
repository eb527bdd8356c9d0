#include "engine/chunk/hooked_decoder.h"

#include <algorithm>
#include <iterator>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/parallel.h"
#include "engine/chunk/workspace.h"

namespace cairn::chunk {

absl::Status DecodeThroughHook(const Decoder& decoder, const DecodeContext& context,
                               const BlockHook& hook, int64_t begin, MutableBytes dst) {
  const Header& header = decoder.header();
  if (!RangeFits(begin, std::ssize(dst), header.nbytes)) {
    return OutOfRange("%d bytes from byte %d on, of a chunk of %d", dst.size(), begin,
                      header.nbytes);
  }
  const int64_t size = header.blocksize;
  const int64_t end = begin + std::ssize(dst);
  const BlockRange range{.first = begin / size, .last = CeilDiv(end, size)};
  // The hook reads one block and writes another, and the caller's buffer may hold neither.
  CAIRN_RETURN_IF_ERROR(
      CheckDecodeMemory(context, range.first, 2 * std::min<int64_t>(size, header.nbytes)));
  const bool threads = WorthThreads(context.executor, end - begin, range.last - range.first);
  const WorkspacePool::Lease workspace = context.pool->Acquire();
  return ForEachBlock(
      range, threads ? context.executor : nullptr, *context.pool, *workspace,
      [](Workspace&) { return absl::OkStatus(); },
      [&](int64_t block, Workspace& own) -> absl::Status {
        const int64_t from = block * size;
        const int64_t to = std::min<int64_t>(from + size, header.nbytes);
        const MutableBytes decoded = own.decoded.Get(static_cast<size_t>(to - from));
        CAIRN_RETURN_IF_ERROR(decoder.DecodeRange(from, decoded, own));
        const bool whole = from >= begin && to <= end;
        const MutableBytes made =
            whole ? dst.subspan(static_cast<size_t>(from - begin), decoded.size())
                  : own.made.Get(decoded.size());
        CAIRN_RETURN_IF_ERROR(
            hook.Run({.block = block, .begin = from, .typesize = header.typesize}, decoded, made));
        if (whole) return absl::OkStatus();
        const int64_t first = std::max(from, begin);
        const auto wanted = static_cast<size_t>(std::min(to, end) - first);
        CopyBytes(made.subspan(static_cast<size_t>(first - from), wanted),
                  dst.subspan(static_cast<size_t>(first - begin)));
        return absl::OkStatus();
      });
}

}  // namespace cairn::chunk
