// The chunks of a state as a summary of the journal gives them.
#ifndef CAIRN_ENGINE_FRAME_INDEX_SUMMARIZED_INDEX_H_
#define CAIRN_ENGINE_FRAME_INDEX_SUMMARIZED_INDEX_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "cairn/chunk.h"
#include "engine/format/index_entry.h"
#include "engine/format/journal_summary.h"
#include "engine/frame/index/committed_index.h"

namespace cairn::frame {

// An entry, and where it comes from. That of the committed index has its value only: the rest
// lies elsewhere, and most reads can do without.
struct FoundEntry {
  IndexEntry entry;
  int64_t committed = -1;  // its number in the committed index; -1: an edit brought it
};

// Immutable, thread-safe. Entries stay where the summaries have them.
class SummarizedIndex {
 public:
  struct Table {
    format::EntryTable place;
    Chunk entries;
  };

  // `pieces` are those of `size` chunks, and lie within the tables and the committed index.
  SummarizedIndex(std::vector<format::IndexPiece> pieces, std::vector<Table> tables, int64_t size);

  int64_t size() const { return size_; }
  const std::vector<format::IndexPiece>& pieces() const { return pieces_; }
  const std::vector<Table>& tables() const { return tables_; }
  // Of all tables.
  int64_t entries() const { return ends_.empty() ? 0 : ends_.back(); }
  // How many of the first chunks are the first ones of the committed index.
  int64_t unchanged() const;

  // Its value is missing where it is of the committed index.
  FoundEntry Find(int64_t nchunk) const;
  // What the chunks [first, first + count) consist of, in order, as parts of pieces. Ends with the
  // first failure.
  absl::Status ForEachPart(
      int64_t first, int64_t count,
      absl::FunctionRef<absl::Status(int64_t source, int64_t count)> visit) const;
  // The entry of that number in all tables.
  IndexEntry EntryOf(int64_t number) const;

 private:
  size_t PieceOf(int64_t nchunk) const;

  std::vector<format::IndexPiece> pieces_;
  std::vector<Table> tables_;
  std::vector<int64_t> ends_;  // of tables, as numbers of entries
  int64_t size_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_SUMMARIZED_INDEX_H_
