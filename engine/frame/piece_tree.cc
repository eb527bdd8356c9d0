#include "engine/frame/piece_tree.h"

namespace cairn::frame {

struct PieceTree::Node {
  Piece piece;
  int64_t size = 0;   // entries of this piece and of all below
  int64_t count = 0;  // nodes
  Link left;
  Link right;
};

namespace {

Piece Part(const Piece& piece, int64_t begin, int64_t count) {
  return {.count = count, .first = piece.first + begin, .run = piece.run};
}

}  // namespace

int64_t PieceTree::SizeOf(const Link& node) { return node == nullptr ? 0 : node->size; }

int64_t PieceTree::CountOf(const Link& node) { return node == nullptr ? 0 : node->count; }

PieceTree::Link PieceTree::Make(Piece piece, Link left, Link right) {
  auto node = std::make_shared<Node>();
  node->size = piece.count + SizeOf(left) + SizeOf(right);
  node->count = 1 + CountOf(left) + CountOf(right);
  node->piece = std::move(piece);
  node->left = std::move(left);
  node->right = std::move(right);
  return node;
}

// SplitMix64.
uint64_t PieceTree::Random() {
  uint64_t n = random_ += 0x9E3779B97F4A7C15;
  n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9;
  n = (n ^ (n >> 27)) * 0x94D049BB133111EB;
  return n ^ (n >> 31);
}

PieceTree::Place PieceTree::Find(int64_t n) const {
  const Node* node = root_.get();
  for (;;) {
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

std::pair<PieceTree::Link, PieceTree::Link> PieceTree::Split(const Link& node, int64_t n) {
  if (node == nullptr) return {};
  const int64_t before = SizeOf(node->left);
  const int64_t count = node->piece.count;
  if (n <= before) {
    auto [left, right] = Split(node->left, n);
    return {std::move(left), Make(node->piece, std::move(right), node->right)};
  }
  auto [left, right] = Split(node->right, n - before - count);
  return {Make(node->piece, node->left, std::move(left)), std::move(right)};
}

PieceTree::Link PieceTree::Shorten(const Link& node, int64_t n) {
  const int64_t before = SizeOf(node->left);
  if (n < before) return Make(node->piece, Shorten(node->left, n), node->right);
  const int64_t behind = n - before - node->piece.count;
  if (behind >= 0) return Make(node->piece, node->left, Shorten(node->right, behind));
  return Make(Part(node->piece, 0, n - before), node->left, node->right);
}

// The first part stays where the piece was, and the rest comes in like any new piece: were both
// put in its place, the tree would lean.
void PieceTree::CutAt(int64_t n) {
  if (n >= size()) return;
  const Place place = Find(n);
  if (place.offset == 0) return;
  const Piece rest = Part(*place.piece, place.offset, place.piece->count - place.offset);
  root_ = Shorten(root_, n);
  Insert(n, rest);
}

PieceTree::Link PieceTree::Join(const Link& left, const Link& right) {
  if (left == nullptr) return right;
  if (right == nullptr) return left;
  const auto nodes = static_cast<uint64_t>(left->count + right->count);
  if (Random() % nodes < static_cast<uint64_t>(left->count)) {
    return Make(left->piece, left->left, Join(left->right, right));
  }
  return Make(right->piece, Join(left, right->left), right->right);
}

void PieceTree::Insert(int64_t n, Piece piece) {
  if (piece.count == 0) return;
  CutAt(n);
  const auto [left, right] = Split(root_, n);
  root_ = Join(Join(left, Make(std::move(piece), nullptr, nullptr)), right);
}

void PieceTree::Erase(int64_t first, int64_t count) {
  CutAt(first);
  CutAt(first + count);
  const auto [left, rest] = Split(root_, first);
  root_ = Join(left, Split(rest, count).second);
}

}  // namespace cairn::frame
