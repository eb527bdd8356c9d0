// Summaries of the journal: the effect of the commits so far on a checkpoint, so that readers can
// skip these commits. Each is the payload of a memcpyed chunk of the journal that no index names:
//
//   commit record | edits i64 | reused i64 | tables u64, and for each: position i64, entries i64,
//   hash u64 | pieces, packed | hash u64 | entries, 20 bytes each
//
// An anchor leads to the newest ones. It is a memcpyed chunk right after the checkpoint, with two
// slots:
//
//   position i64 | size i64 | generation u64 | last u64 | boot u64 | hash u64
//
// docs/file-format.md says more. Anchor and summaries are only a cache.
#ifndef CAIRN_ENGINE_FORMAT_JOURNAL_SUMMARY_H_
#define CAIRN_ENGINE_FORMAT_JOURNAL_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/chunk/header.h"
#include "engine/format/index_entry.h"
#include "engine/format/journal.h"

namespace cairn::format {

// Returns a number that ties anchor and summaries to a checkpoint: to its journal, and to where it
// ends.
uint64_t SummaryIdentity(uint64_t base, int64_t frame_size);

// The place of a summary.
struct SummarySlot {
  int64_t position = 0;  // 0: there is none
  int64_t size = 0;
  uint64_t generation = 0;  // of the last commit that it sums up
  uint64_t last = 0;        // hash of the record of that commit
  // As in a receipt: the page cache of that machine holds the summary, and everything before it. 0:
  // it is durable.
  uint64_t boot = 0;

  int64_t end() const { return position + size; }
  bool operator==(const SummarySlot&) const = default;
};
inline constexpr int64_t kSlotSize = int64_t{6} * 8;
// There are two slots: the newest summary, and the newest that is durable.
inline constexpr int64_t kSlots = 2;
inline constexpr int64_t kAnchorSize = chunk::kHeaderSize + kSlots * kSlotSize;

std::vector<std::byte> EncodeSlot(const SummarySlot& slot, uint64_t identity);
// Returns nothing unless `bytes` begins with an intact slot of that identity.
std::optional<SummarySlot> FindSlot(Bytes bytes, uint64_t identity);
// Encodes an anchor that leads to no summary.
std::vector<std::byte> EncodeAnchor(uint64_t identity);

// Chunks that follow each other, up to the begin of the next piece.
struct IndexPiece {
  int64_t begin = 0;   // number of the first chunk
  int64_t source = 0;  // its number in the checkpoint's index, or ~n for entry n of all tables
  bool operator==(const IndexPiece&) const = default;
};

// The entries that commits brought. Each has value i64, fingerprint u64, stored bytes i32.
inline constexpr int64_t kTableEntrySize = 8 + 8 + 4;
struct EntryTable {
  int64_t position = 0;
  int64_t entries = 0;
  uint64_t hash = 0;
  int64_t size() const { return entries * kTableEntrySize; }
  bool operator==(const EntryTable&) const = default;
};
std::vector<std::byte> EncodeEntries(std::span<const IndexEntry> entries);
IndexEntry EntryAt(Bytes table, int64_t number);

struct JournalSummary {
  // The effect of all commits in one record, except for the chunks.
  CommitRecord record;
  int64_t edits = 0;  // as in JournalPosition
  int64_t reused = 0;
  std::vector<EntryTable> tables;  // the last one may lie in the same summary
  std::vector<IndexPiece> pieces;  // in order; the first begins with chunk 0
  bool operator==(const JournalSummary&) const = default;
};

// Parses a summary. `summary` is bytes [slot.position, slot.end()) of the frame. Every table must
// lie before the summary's end, and every piece within `committed` entries of the checkpoint or the
// tables. Errors: kDataLoss if the summary breaks any of these rules or is damaged.
absl::StatusOr<JournalSummary> ParseSummary(Bytes summary, const SummarySlot& slot,
                                            uint64_t identity, int64_t committed);

// Encodes the chunk at `position` of a summary without its record, which is `commit`. `entries`, as
// encoded, are those of one more table.
std::vector<std::byte> EncodeSummary(JournalSummary& summary, const CommitRecordParts& commit,
                                     Bytes entries, int64_t position, uint64_t identity);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_JOURNAL_SUMMARY_H_
