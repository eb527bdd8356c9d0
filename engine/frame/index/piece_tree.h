// A sequence of index entries that is cheap to edit anywhere and to copy.
#ifndef CAIRN_ENGINE_FRAME_INDEX_PIECE_TREE_H_
#define CAIRN_ENGINE_FRAME_INDEX_PIECE_TREE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"

#include "engine/format/index_entry.h"

namespace cairn::frame {

// Entries that follow each other: a new one, or numbers [first, first + count) of a run of new ones
// or of the committed index.
struct Piece {
  int64_t count = 0;
  int64_t first = 0;
  std::shared_ptr<const format::IndexEntry> run = {};
  std::optional<format::IndexEntry> only = {};

  // Returns null for entries of the committed index.
  const format::IndexEntry* entries() const {
    if (only.has_value()) return &*only;
    return run != nullptr ? run.get() + first : nullptr;
  }
};

// A randomised search tree. Each edit is expected to cost O(log pieces), even if the edits were
// chosen to make it deep. Copies share their common nodes. A node that no copy shares is edited in
// place. Not thread-safe for edits, but copies may be used in different threads.
class PieceTree {
 public:
  int64_t size() const { return SizeOf(root_); }
  // Returns the number of pieces into which edits have cut the sequence.
  int64_t pieces() const { return CountOf(root_); }

  // The piece that holds entry n, and n's number within it. n is in [0, size()).
  struct Place {
    const Piece* piece = nullptr;
    int64_t offset = 0;
  };
  Place Find(int64_t n) const;
  // Visits the pieces in order.
  void ForEach(absl::FunctionRef<void(const Piece&)> visit) const { Visit(root_, visit); }

  // Inserts a piece, whose entries get the numbers from n on. n is in [0, size()].
  void Insert(int64_t n, Piece piece);
  // Replaces entry n by a piece of one entry.
  void Replace(int64_t n, Piece piece);
  void Erase(int64_t first, int64_t count);

 private:
  struct Node;
  // A counted pointer to a node. If the count is one, certainly no other link holds the node.
  class Link {
   public:
    Link() = default;
    explicit Link(Node* node) : node_(node) {}
    Link(const Link& other);
    Link(Link&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Link& operator=(Link other) noexcept;
    ~Link();

    const Node* get() const { return node_; }
    const Node* operator->() const { return node_; }
    bool empty() const { return node_ == nullptr; }
    // Returns the node for editing, which is a new copy if others hold it too.
    Node& Own();

   private:
    Node* node_ = nullptr;
  };

  static void Visit(const Link& tree, absl::FunctionRef<void(const Piece&)> visit);
  static int64_t SizeOf(const Link& node);
  static int64_t CountOf(const Link& node);
  static void Recount(Node& node);
  // Returns true if the node's size and count are the sums of its piece and of the nodes below.
  static bool AddsUp(const Node& node);
  // Splits a tree into the first n entries and the rest. n lies between two pieces.
  static std::pair<Link, Link> Split(Link tree, int64_t n);
  // Returns the link to the node that holds entry n. All nodes up to there become this tree's own,
  // and get this many more entries and nodes.
  Link& OwnPathTo(int64_t n, int64_t entries, int64_t nodes);
  // Replaces the piece that holds entry n. The new piece has `more` more entries.
  void SetPiece(int64_t n, int64_t more, Piece piece);
  // Makes n lie between two pieces.
  void CutAt(int64_t n);
  // n lies between two pieces.
  void InsertNode(int64_t n, Piece piece);
  // Entry n is a piece of its own.
  void EraseNode(int64_t n);
  // Joins two trees. The root is any of the nodes with equal probability, which keeps the tree
  // flat.
  Link Join(Link left, Link right);
  uint64_t Random();

  Link root_;
  uint64_t random_ = 0;  // made when it is needed
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_PIECE_TREE_H_
