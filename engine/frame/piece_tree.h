// A sequence of index entries that is cheap to edit anywhere and to copy.
#ifndef CAIRN_ENGINE_FRAME_PIECE_TREE_H_
#define CAIRN_ENGINE_FRAME_PIECE_TREE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/frame/offsets_index.h"

namespace cairn::frame {

// Entries that follow each other: numbers [first, first + count) of the committed index, or the
// same of a run of new ones.
struct Piece {
  int64_t count = 0;
  int64_t first = 0;
  std::shared_ptr<const std::vector<IndexEntry>> run;  // null: the committed index
};

// A randomised search tree whose nodes never change: whichever edits are made, each is expected to
// cost O(log pieces), and copies share what they have in common. Not thread-safe for edits.
class PieceTree {
 public:
  int64_t size() const { return SizeOf(root_); }

  // The piece that holds entry n, and n's number within it. n is in [0, size()).
  struct Place {
    const Piece* piece = nullptr;
    int64_t offset = 0;
  };
  Place Find(int64_t n) const;

  // The piece's entries get the numbers from n on; n is in [0, size()].
  void Insert(int64_t n, Piece piece);
  void Erase(int64_t first, int64_t count);

 private:
  struct Node;
  using Link = std::shared_ptr<const Node>;

  static int64_t SizeOf(const Link& node);
  static int64_t CountOf(const Link& node);
  static Link Make(Piece piece, Link left, Link right);
  // The first n entries, and the rest; n lies between two pieces.
  static std::pair<Link, Link> Split(const Link& node, int64_t n);
  // Drops the entries from n on of the piece that holds n.
  static Link Shorten(const Link& node, int64_t n);
  // Sees to it that n lies between two pieces.
  void CutAt(int64_t n);
  // The root is any of the nodes, each as likely as the others: that keeps the tree flat.
  Link Join(const Link& left, const Link& right);
  uint64_t Random();

  Link root_;
  uint64_t random_ = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_PIECE_TREE_H_
