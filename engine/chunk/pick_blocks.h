// Makes a chunk of some blocks of a stored one, so that the other blocks need not be read.
#ifndef CAIRN_ENGINE_CHUNK_PICK_BLOCKS_H_
#define CAIRN_ENGINE_CHUNK_PICK_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cairn/chunk.h"
#include "cairn/types.h"
#include "engine/chunk/header.h"

namespace cairn::chunk {

// Bytes of the stored chunk, and their place in the picked one.
struct PickedPiece {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t to = 0;

  int64_t size() const { return end - begin; }
};

// The blocks of a stored chunk that hold some decoded bytes. They decode from the picked chunk as
// from the stored one, to data or to an error, whatever the bytes of both are. All other blocks of
// the picked chunk are one run of zeros.
class PickedBlocks {
 public:
  // Returns how many bytes at the start of the chunk Make needs: header, positions and the size of
  // the dictionary.
  static int64_t HeadSize(const Header& header);

  // Plans the picked chunk. `needed` may name bytes that the chunk does not have. Returns nothing
  // if the blocks cannot be read one by one: special, plain and Blosc1 chunks, variable blocks,
  // blocks that are coded against block 0, and positions that are wrong.
  static std::optional<PickedBlocks> Make(Bytes head, const Header& header,
                                          std::span<const ByteRange> needed);

  // Returns what must be read, in the order in which it is stored. Blocks that nearly follow each
  // other are in one piece. All pieces together are no longer than the stored chunk.
  std::span<const PickedPiece> pieces() const { return pieces_; }
  // Returns the size of the picked chunk.
  int64_t cbytes() const { return cbytes_; }

  // Completes the picked chunk, which holds the pieces already. `head` is the one of Make. Returns
  // false if a block does not end where the next one begins, so that only the stored chunk tells
  // what it decodes to.
  bool Finish(Bytes head, MutableBytes chunk) const;

 private:
  struct Block {
    int64_t number = 0;
    int64_t begin = 0;  // in the stored chunk, then in the picked one
    int64_t end = 0;
  };

  explicit PickedBlocks(const Header& header) : header_(header) {}
  bool FindBlocks(Bytes head, int64_t blocks_begin, std::span<const ByteRange> needed);
  void PlacePieces(int64_t blocks_begin);
  int64_t zeros_size() const;
  bool IsComplete(Bytes chunk, const Block& block) const;

  Header header_;
  std::vector<Block> blocks_;  // by their positions
  std::vector<PickedPiece> pieces_;
  int64_t cbytes_ = 0;
};

// Returns the picked chunk of a complete one, or nothing if blocks cannot be picked.
std::optional<std::vector<std::byte>> PickBlocks(Bytes chunk, std::span<const ByteRange> needed);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_PICK_BLOCKS_H_
