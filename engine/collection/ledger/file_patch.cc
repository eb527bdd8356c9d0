#include "engine/collection/ledger/file_patch.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "engine/base/status.h"

namespace cairn::collection {

namespace {

// Bytes of a patch.
struct Piece {
  size_t patch = 0;
  Bytes bytes;
};
using Pieces = std::map<int64_t, Piece>;  // by offset; they do not overlap

// Splits the piece around `offset`, if there is one.
void SplitAt(int64_t offset, Pieces& pieces) {
  const auto after = pieces.lower_bound(offset);
  if (after == pieces.begin()) return;
  const auto around = std::prev(after);
  const int64_t before = offset - around->first;
  Piece& piece = around->second;
  if (before >= std::ssize(piece.bytes)) return;
  const auto size = static_cast<size_t>(before);
  const Piece rest = {.patch = piece.patch, .bytes = piece.bytes.subspan(size)};
  piece.bytes = piece.bytes.first(size);
  pieces.emplace(offset, rest);
}

}  // namespace

absl::StatusOr<size_t> ReadPatched(const File& base, int64_t size,
                                   std::span<const FilePatch> patches, int64_t offset,
                                   MutableBytes dst) {
  if (offset >= size) return 0;
  dst = dst.first(static_cast<size_t>(std::min(std::ssize(dst), size - offset)));
  CAIRN_ASSIGN_OR_RETURN(const size_t read, base.ReadSome(offset, dst));
  std::ranges::fill(dst.subspan(read), std::byte{0});
  const int64_t end = offset + std::ssize(dst);
  for (const FilePatch& patch : patches) {
    const int64_t from = std::max(offset, patch.offset);
    const int64_t to = std::min(end, patch.end());
    if (from >= to) continue;
    std::ranges::copy(
        Bytes(patch.bytes)
            .subspan(static_cast<size_t>(from - patch.offset), static_cast<size_t>(to - from)),
        dst.begin() + (from - offset));
  }
  return dst.size();
}

std::vector<FilePatch> WithoutCovered(std::span<const FilePatch> patches) {
  Pieces pieces;
  for (size_t i = 0; i < patches.size(); ++i) {
    const FilePatch& patch = patches[i];
    if (patch.bytes.empty()) continue;
    SplitAt(patch.offset, pieces);
    SplitAt(patch.end(), pieces);
    pieces.erase(pieces.lower_bound(patch.offset), pieces.lower_bound(patch.end()));
    pieces.emplace(patch.offset, Piece{.patch = i, .bytes = patch.bytes});
  }
  std::multimap<size_t, FilePatch> left;  // by patch
  for (const auto& [offset, piece] : pieces) {
    left.emplace(piece.patch, FilePatch{offset, {piece.bytes.begin(), piece.bytes.end()}});
  }
  std::vector<FilePatch> result;
  for (auto& [patch, piece] : left) result.push_back(std::move(piece));
  return result;
}

}  // namespace cairn::collection
