#include "engine/frame/index/summarized_index.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status.h"

namespace cairn::frame {

SummarizedIndex::SummarizedIndex(std::vector<format::IndexPiece> pieces, std::vector<Table> tables,
                                 int64_t size)
    : pieces_(std::move(pieces)), tables_(std::move(tables)), size_(size) {
  for (const Table& table : tables_) ends_.push_back(entries() + table.place.entries);
}

size_t SummarizedIndex::PieceOf(int64_t nchunk) const {
  CAIRN_DCHECK(0 <= nchunk && nchunk < size_);
  const auto after = std::ranges::upper_bound(pieces_, nchunk, {}, &format::IndexPiece::begin);
  return static_cast<size_t>(after - pieces_.begin()) - 1;
}

IndexEntry SummarizedIndex::EntryOf(int64_t number) const {
  CAIRN_DCHECK(0 <= number && number < entries());
  const auto table = static_cast<size_t>(std::ranges::upper_bound(ends_, number) - ends_.begin());
  const int64_t begin = table > 0 ? ends_[table - 1] : 0;
  return format::EntryAt(tables_[table].entries.bytes(), number - begin);
}

FoundEntry SummarizedIndex::Find(int64_t nchunk) const {
  const format::IndexPiece& piece = pieces_[PieceOf(nchunk)];
  const int64_t offset = nchunk - piece.begin;
  if (piece.source >= 0) return {.entry = {}, .committed = piece.source + offset};
  return {.entry = EntryOf(~piece.source + offset)};
}

absl::Status SummarizedIndex::ForEachPart(
    int64_t first, int64_t count,
    absl::FunctionRef<absl::Status(int64_t source, int64_t count)> visit) const {
  const int64_t end = first + count;
  for (size_t i = PieceOf(first); first < end; ++i) {
    const format::IndexPiece& piece = pieces_[i];
    const int64_t piece_end = i + 1 < pieces_.size() ? pieces_[i + 1].begin : size_;
    const int64_t offset = first - piece.begin;
    const int64_t part = std::min(piece_end, end) - first;
    CAIRN_RETURN_IF_ERROR(visit(piece.source >= 0 ? piece.source + offset  //
                                                  : piece.source - offset,
                                part));
    first += part;
  }
  return absl::OkStatus();
}

int64_t SummarizedIndex::unchanged() const {
  if (pieces_.empty() || pieces_.front().source != 0) return 0;
  return pieces_.size() > 1 ? pieces_[1].begin : size_;
}

}  // namespace cairn::frame
