#include "engine/frame/space/births.h"

#include <algorithm>
#include <iterator>

namespace cairn::frame {

// Splits the piece that continues across `position`, if there is one. Returns the first piece that
// begins there or later.
Births::Pieces::iterator Births::SplitAt(int64_t position) {
  const auto next = pieces_.lower_bound(position);
  if (next == pieces_.begin()) return next;
  Piece& before = std::prev(next)->second;
  if (before.end <= position) return next;
  const Piece rest = before;
  before.end = position;
  return pieces_.emplace_hint(next, position, rest);
}

void Births::Set(const Extent& bytes, uint64_t generation) {
  if (!is_kept_ || bytes.size() <= 0) return;
  newest_ = std::max(newest_, generation);
  const auto begin = SplitAt(bytes.begin);
  auto next = pieces_.erase(begin, SplitAt(bytes.end));
  // Neighbours that were born together become one piece.
  int64_t end = bytes.end;
  if (next != pieces_.end() && next->first == end && next->second.generation == generation) {
    end = next->second.end;
    next = pieces_.erase(next);
  }
  if (next != pieces_.begin()) {
    Piece& before = std::prev(next)->second;
    if (before.end == bytes.begin && before.generation == generation) {
      before.end = end;
      return;
    }
  }
  pieces_.emplace_hint(next, bytes.begin, Piece{.end = end, .generation = generation});
}

uint64_t Births::Of(int64_t begin) const {
  const auto next = pieces_.upper_bound(begin);
  if (next == pieces_.begin()) return 0;
  const Piece& piece = std::prev(next)->second;
  return begin < piece.end ? piece.generation : 0;
}

void Births::Clear(bool keep) {
  pieces_.clear();
  newest_ = 0;
  is_kept_ = keep;
}

void Births::Forget(const Extent& bytes) {
  if (pieces_.empty() || bytes.size() <= 0) return;
  const auto begin = SplitAt(bytes.begin);
  pieces_.erase(begin, SplitAt(bytes.end));
}

bool Births::ListFrom(int64_t begin, int64_t end, int64_t most,
                      std::vector<format::BornExtent>& list) const {
  auto piece = pieces_.lower_bound(begin);
  for (; most > 0 && piece != pieces_.end() && piece->first < end; --most, ++piece) {
    list.push_back({.bytes = {piece->first, std::min(piece->second.end, end)},
                    .generation = piece->second.generation});
  }
  return piece != pieces_.end() && piece->first < end;
}

}  // namespace cairn::frame
