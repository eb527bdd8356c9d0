// The chunks of a state in the form that a summary of the journal gives them.
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

// An entry and its origin. An entry of the committed index has its value only, because the rest
// lies elsewhere, and most reads do not need it.
struct FoundEntry {
  IndexEntry entry;
  int64_t committed = -1;  // its number in the committed index; -1: an edit brought it
};

// Immutable, thread-safe. Entries stay in the summaries.
class SummarizedIndex {
 public:
  struct Table {
    format::EntryTable place;
    Chunk entries;
  };

  // Makes the index of `size` chunks. `pieces` lie within the tables and the committed index.
  SummarizedIndex(std::vector<format::IndexPiece> pieces, std::vector<Table> tables, int64_t size);

  int64_t size() const { return size_; }
  const std::vector<format::IndexPiece>& pieces() const { return pieces_; }
  const std::vector<Table>& tables() const { return tables_; }
  // Returns the number of entries in all tables.
  int64_t entries() const { return ends_.empty() ? 0 : ends_.back(); }
  // Returns how many of the first chunks are the first ones of the committed index.
  int64_t unchanged() const;

  // Finds an entry. Its value is missing if it belongs to the committed index.
  FoundEntry Find(int64_t nchunk) const;
  // Visits the parts of pieces that chunks [first, first + count) consist of, in order. Stops at
  // the first failure.
  absl::Status ForEachPart(
      int64_t first, int64_t count,
      absl::FunctionRef<absl::Status(int64_t source, int64_t count)> visit) const;
  // Returns the entry with that number in all tables.
  IndexEntry EntryOf(int64_t number) const;

 private:
  size_t PieceOf(int64_t nchunk) const;

  std::vector<format::IndexPiece> pieces_;
  std::vector<Table> tables_;
  std::vector<int64_t> ends_;  // ends of the tables, as numbers of entries
  int64_t size_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_SUMMARIZED_INDEX_H_
