#include "engine/frame/index/piece_tree.h"

#include <atomic>
#include <tuple>

#include "engine/base/check.h"
#include "engine/base/random.h"

namespace cairn::frame {

struct PieceTree::Node {
  explicit Node(Piece only) : piece(std::move(only)), size(piece.count) {}
  Node(const Node& other)
      : piece(other.piece),
        size(other.size),
        count(other.count),
        left(other.left),
        right(other.right) {}

  Piece piece;
  int64_t size;       // entries of this piece and of all below
  int64_t count = 1;  // nodes
  Link left;
  Link right;
  std::atomic<int64_t> links = 1;
};

namespace {

// Returns a part of a piece that has several entries, or none of them.
Piece Part(const Piece& piece, int64_t begin, int64_t count) {
  return {.count = count, .first = piece.first + begin, .run = piece.run};
}

}  // namespace

PieceTree::Link::Link(const Link& other) : node_(other.node_) {
  if (node_ != nullptr) node_->links.fetch_add(1, std::memory_order_relaxed);
}

PieceTree::Link& PieceTree::Link::operator=(Link other) noexcept {
  std::swap(node_, other.node_);
  return *this;
}

PieceTree::Link::~Link() {
  if (node_ != nullptr && node_->links.fetch_sub(1, std::memory_order_acq_rel) == 1) delete node_;
}

PieceTree::Node& PieceTree::Link::Own() {
  // Acquire is needed so that the thread that released its share has finished reading the node.
  if (node_->links.load(std::memory_order_acquire) > 1) *this = Link(new Node(*node_));
  return *node_;
}

int64_t PieceTree::SizeOf(const Link& node) { return node.empty() ? 0 : node->size; }

int64_t PieceTree::CountOf(const Link& node) { return node.empty() ? 0 : node->count; }

void PieceTree::Recount(Node& node) {
  node.size = node.piece.count + SizeOf(node.left) + SizeOf(node.right);
  node.count = 1 + CountOf(node.left) + CountOf(node.right);
}

bool PieceTree::AddsUp(const Node& node) {
  return node.piece.count > 0 &&
         node.size == node.piece.count + SizeOf(node.left) + SizeOf(node.right) &&
         node.count == 1 + CountOf(node.left) + CountOf(node.right);
}

// Steps SplitMix64 with a random seed. With a known seed, edits could be chosen that make a deep
// tree.
uint64_t PieceTree::Random() {
  if (random_ == 0) random_ = RandomNumber();
  uint64_t n = random_ += 0x9E3779B97F4A7C15;
  n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9;
  n = (n ^ (n >> 27)) * 0x94D049BB133111EB;
  return n ^ (n >> 31);
}

PieceTree::Place PieceTree::Find(int64_t n) const {
  CAIRN_DCHECK(0 <= n && n < size());
  const Node* node = root_.get();
  for (;;) {
    CAIRN_DCHECK(AddsUp(*node));
    const int64_t before = SizeOf(node->left);
    if (n < before) {
      node = node->left.get();
    } else if (n < before + node->piece.count) {
      return {.piece = &node->piece, .offset = n - before};
    } else {
      n -= before + node->piece.count;
      node = node->right.get();
    }
  }
}

void PieceTree::Visit(const Link& tree, absl::FunctionRef<void(const Piece&)> visit) {
  if (tree.empty()) return;
  Visit(tree->left, visit);
  visit(tree->piece);
  Visit(tree->right, visit);
}

std::pair<PieceTree::Link, PieceTree::Link> PieceTree::Split(Link tree, int64_t n) {
  if (tree.empty()) return {};
  Node& node = tree.Own();
  const int64_t before = SizeOf(node.left);
  if (n <= before) {
    auto [left, right] = Split(std::move(node.left), n);
    node.left = std::move(right);
    Recount(node);
    return {std::move(left), std::move(tree)};
  }
  auto [left, right] = Split(std::move(node.right), n - before - node.piece.count);
  node.right = std::move(left);
  Recount(node);
  return {std::move(tree), std::move(right)};
}

// Cuts a piece. The first part stays in its place, and the rest is inserted like any new piece. If
// both were put there, the tree would lean.
void PieceTree::CutAt(int64_t n) {
  if (n >= size()) return;
  const Place place = Find(n);
  if (place.offset == 0) return;
  Piece rest = Part(*place.piece, place.offset, place.piece->count - place.offset);
  SetPiece(n, -rest.count, Part(*place.piece, 0, place.offset));
  InsertNode(n, std::move(rest));
}

PieceTree::Link PieceTree::Join(Link left, Link right) {
  if (left.empty()) return right;
  if (right.empty()) return left;
  const auto nodes = static_cast<uint64_t>(left->count + right->count);
  if (Random() % nodes < static_cast<uint64_t>(left->count)) {
    Node& node = left.Own();
    node.right = Join(std::move(node.right), std::move(right));
    Recount(node);
    return left;
  }
  Node& node = right.Own();
  node.left = Join(std::move(left), std::move(node.left));
  Recount(node);
  return right;
}

// Each node of the new tree is its root with equal probability, also the added one.
void PieceTree::InsertNode(int64_t n, Piece piece) {
  Link leaf(new Node(std::move(piece)));
  Node& added = leaf.Own();
  Link* at = &root_;
  while (!at->empty() && Random() % static_cast<uint64_t>((*at)->count + 1) != 0) {
    Node& node = at->Own();
    node.size += added.piece.count;
    ++node.count;
    const int64_t before = SizeOf(node.left);
    if (n <= before) {
      at = &node.left;
    } else {
      n -= before + node.piece.count;
      at = &node.right;
    }
  }
  std::tie(added.left, added.right) = Split(std::move(*at), n);
  Recount(added);
  *at = std::move(leaf);
}

PieceTree::Link& PieceTree::OwnPathTo(int64_t n, int64_t entries, int64_t nodes) {
  for (Link* at = &root_;;) {
    Node& node = at->Own();
    node.size += entries;
    node.count += nodes;
    const int64_t before = SizeOf(node.left);
    if (n < before) {
      at = &node.left;
    } else if (n < before + node.piece.count) {
      return *at;
    } else {
      n -= before + node.piece.count;
      at = &node.right;
    }
  }
}

void PieceTree::EraseNode(int64_t n) {
  Link& link = OwnPathTo(n, -1, -1);
  Node& node = link.Own();
  link = Join(std::move(node.left), std::move(node.right));
}

void PieceTree::SetPiece(int64_t n, int64_t more, Piece piece) {
  OwnPathTo(n, more, 0).Own().piece = std::move(piece);
}

void PieceTree::Insert(int64_t n, Piece piece) {
  if (piece.count == 0) return;
  CAIRN_DCHECK(0 <= n && n <= size());
  const int64_t size_after = size() + piece.count;
  CutAt(n);
  InsertNode(n, std::move(piece));
  CAIRN_DCHECK(size() == size_after && AddsUp(*root_.get()));
}

// Replaces an entry as if it cut before and after n, with fewer descents.
void PieceTree::Replace(int64_t n, Piece piece) {
  CAIRN_DCHECK(piece.count == 1);
  const int64_t size_before = size();
  const Place place = Find(n);
  Piece rest = Part(*place.piece, place.offset + 1, place.piece->count - place.offset - 1);
  if (place.offset == 0) {
    SetPiece(n, -rest.count, std::move(piece));
  } else {
    SetPiece(n, -rest.count - 1, Part(*place.piece, 0, place.offset));
    InsertNode(n, std::move(piece));
  }
  if (rest.count > 0) InsertNode(n + 1, std::move(rest));
  CAIRN_DCHECK(size() == size_before);
}

void PieceTree::Erase(int64_t first, int64_t count) {
  if (count == 0) return;
  CAIRN_DCHECK(0 <= first && 0 < count && count <= size() - first);
  CutAt(first);
  if (const Piece& piece = *Find(first).piece; piece.count > count) {
    SetPiece(first, -count, Part(piece, count, piece.count - count));
    return;
  }
  CutAt(first + count);
  if (count == 1) {
    EraseNode(first);
    return;
  }
  auto [left, rest] = Split(std::move(root_), first);
  root_ = Join(std::move(left), Split(std::move(rest), count).second);
}

}  // namespace cairn::frame
