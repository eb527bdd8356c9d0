// Records of the journal: commits after a frame's trailer, until a checkpoint writes them into the
// index. All numbers are little endian.
//
//   magic | version u32 | kind u32 | size u64 | payload | XXH3-64 of everything before it
//
// docs/file-format.md describes the payload of a commit record. The chunks that a commit brings lie
// before its record, back to back. A receipt follows each commit record:
//
//   magic | base u64 | generation u64 | boot u64 | durable generation u64 | XXH3-64 of everything
//   before it
#ifndef CAIRN_ENGINE_FORMAT_JOURNAL_H_
#define CAIRN_ENGINE_FORMAT_JOURNAL_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/format/frame_header.h"
#include "engine/format/index_entry.h"
#include "engine/format/trailer.h"

namespace cairn::format {

// The head has magic, version, kind and size.
inline constexpr int64_t kRecordHeadSize = 8 + 4 + 4 + 8;
inline constexpr int64_t kRecordHashSize = 8;
inline constexpr int64_t kMinRecordSize = kRecordHeadSize + kRecordHashSize;
// A record that would be larger goes into a checkpoint.
inline constexpr int64_t kMaxRecordSize = int64_t{4} << 30;
// Records and receipts begin in the same way. No chunk begins with their first byte.
inline constexpr std::string_view kRecordMagic("CAIRNJNL");
inline constexpr std::string_view kReceiptMagic("CAIRNRCT");
inline constexpr std::string_view kMagicBegin("CAIRN");

// This many zeros follow the journal if other bytes were there before.
inline constexpr int64_t kEndMark = 8;

enum class RecordKind : uint32_t {
  kUnknown = 0,   // a kind of a later version, or the name of what that added
  kCommit = 1,    // a commit
  kReplaced = 2,  // another file takes the frame's name, or has taken it
  kReceipt = 3,   // the commit record before it was written whole
  kGoesOn = 4,    // where the inherited journal of the checkpoint before continues
  kAppend = 5,    // a commit that adds pending items and does nothing else
  kEnded = 6,     // another checkpoint followed, and its header was durable
};
constexpr bool IsCommit(RecordKind kind) {
  return kind == RecordKind::kCommit || kind == RecordKind::kAppend;
}

struct RecordHead {
  RecordKind kind = RecordKind::kCommit;
  int64_t size = 0;  // of the whole record
};

// Returns nothing unless `bytes` begins with the head of a record, of any version, or with a
// receipt.
std::optional<RecordHead> FindRecordHead(Bytes bytes);
// Returns true if a whole record is what was written.
bool ChecksumMatches(Bytes record);
// Returns the hash that ends a record. The next record names this one by it.
uint64_t StoredChecksum(Bytes record);

struct InsertEdit {
  int64_t nchunk = 0;
  IndexedChunk chunk;
  bool operator==(const InsertEdit&) const = default;
};
struct ReplaceEdit {
  int64_t nchunk = 0;
  IndexedChunk chunk;
  bool operator==(const ReplaceEdit&) const = default;
};
struct EraseEdit {
  int64_t first = 0;
  int64_t count = 0;
  bool operator==(const EraseEdit&) const = default;
};
// Makes chunk order[i] chunk i.
struct ReorderEdit {
  std::vector<uint32_t> order;
  bool operator==(const ReorderEdit&) const = default;
};
using ChunkEdit = std::variant<InsertEdit, ReplaceEdit, EraseEdit, ReorderEdit>;
// Returns the chunk that the edit brings if it is stored, else null.
const IndexedChunk* StoredBy(const ChunkEdit& edit);

struct LayerEdit {
  enum class Kind : uint32_t { kSetMetalayer = 1, kSetVlmeta = 2, kDeleteVlmeta = 3 };
  Kind kind = Kind::kSetMetalayer;
  std::string name;
  std::vector<std::byte> content = {};  // of a vlmetalayer: its chunk
  bool operator==(const LayerEdit&) const = default;
};
void WriteLayerEdit(const LayerEdit& edit, ByteWriter& writer);
LayerEdit ReadLayerEdit(ByteReader& reader);

// The change of the items that do not fill a chunk.
struct PartialEdit {
  bool replaces = false;  // the pending items are gone: a chunk holds them, or nothing does
  std::optional<IndexedChunk> head = {};  // the new items continue this stored chunk
  bool padded = false;  // zeros fill the chunk after the new items, and after all later ones
  std::vector<std::byte> items = {};  // new items after those of the head
  bool operator==(const PartialEdit&) const = default;
};

// Links that tie a commit to what lies before it.
struct CommitLinks {
  uint64_t base = 0;  // identity of the checkpoint, see BaseIdentity
  uint64_t generation = 0;
  uint64_t previous = 0;  // hash of the record before, or the identity of the checkpoint
  // Everything before this was durable when the record was written. 0: perhaps not even the header.
  int64_t durable_end = 0;
  bool operator==(const CommitLinks&) const = default;
};

inline constexpr int64_t kReceiptSize = int64_t{6} * 8;
// Receipts of one commit by one machine differ only from here on.
inline constexpr int64_t kReceiptDurableAt = int64_t{4} * 8;
// Older versions put a receipt into a record.
inline constexpr int64_t kMaxReceiptSize = kMinRecordSize + int64_t{4} * 8;

// Repeats facts about a commit record, for the case that the record is damaged. It is written right
// after the record, and again in its place when the record is durable. No other record depends on
// it.
struct Receipt {
  uint64_t base = 0;        // as in CommitLinks
  uint64_t generation = 0;  // likewise
  // The boot of the machine that wrote it, for the file: see FileSystem::BootId and
  // FrameFile::BootHere. While that machine runs, its page cache holds the commit and everything
  // before it.
  uint64_t boot = 0;
  // the newest generation that was durable with everything before it
  uint64_t durable_generation = 0;
  int64_t size = kReceiptSize;  // as it is stored
  bool operator==(const Receipt&) const = default;
};

// The journal of an earlier checkpoint, which continues after a checkpoint that was written during
// commits. The seal names it. So does a record right after the checkpoint, for the case that the
// trailer is damaged.
struct InheritedJournal {
  uint64_t generation = 0;  // of the checkpoint; the next commit follows it
  int64_t begin = 0;        // where the records after that generation begin
  uint64_t base = 0;        // as in CommitLinks
  uint64_t last = 0;        // hash of the record of that generation
  uint64_t since = 0;       // generation of the checkpoint that the journal began after
  bool operator==(const InheritedJournal&) const = default;
};
inline constexpr int64_t kGoesOnSize = kMinRecordSize + int64_t{5} * 8;

// Tells where a journal ended because a newer checkpoint followed. It is written when the header
// that leads to the newer checkpoint is durable. A file whose header still leads here has lost a
// write.
struct EndedJournal {
  uint64_t base = 0;        // of the journal, as in CommitLinks
  uint64_t last = 0;        // generation of its last commit
  uint64_t generation = 0;  // of the newer checkpoint
  int64_t frame_size = 0;   // where the newer checkpoint ends
  bool operator==(const EndedJournal&) const = default;
};
inline constexpr int64_t kEndedSize = kMinRecordSize + int64_t{4} * 8;

// Totals of the frame after the commit.
struct CommitTotals {
  int64_t nchunks = 0;        // chunks in the index, without the partial chunk
  int64_t nbytes = 0;         // decoded, with the pending items
  int64_t stored_bytes = -1;  // of the chunks; -1: not known
  int32_t chunksize = 0;
  bool vlblocks = false;
  bool operator==(const CommitTotals&) const = default;
};

struct CommitRecord {
  CommitLinks links;
  // A kAppend has no totals: they are those of the state before, with the pending items added.
  std::optional<CommitTotals> totals = {};
  std::vector<ChunkEdit> chunks = {};  // in the order in which they apply
  std::vector<LayerEdit> layers = {};
  PartialEdit partial = {};
  bool operator==(const CommitRecord&) const = default;
};

// Edits of chunks in the form of a record, encoded as they come.
class EncodedEdits {
 public:
  void Add(const ChunkEdit& edit);
  // Replaces the chunk of an insertion or a replacement. That edit begins where bytes() ended
  // before it was added.
  void SetChunk(size_t begin, const IndexedChunk& chunk);
  int64_t count() const { return count_; }
  Bytes bytes() const { return bytes_; }
  std::vector<ChunkEdit> Decode() const;
  // Keeps the memory.
  void Clear();

 private:
  std::vector<std::byte> bytes_;
  int64_t count_ = 0;
};

// A commit record whose parts stay where they lie.
struct CommitRecordParts {
  CommitLinks links;
  std::optional<CommitTotals> totals = {};  // a kAppend has none
  const EncodedEdits& chunks;
  std::span<const LayerEdit> layers;
  // The change of the pending items; see PartialEdit.
  bool partial_replaced = false;
  std::optional<IndexedChunk> partial_head = {};
  bool partial_padded = false;
  Bytes partial_items = {};
};

// Records are tied to the `position` in the frame at which they begin. A copy that lies elsewhere,
// perhaps in a chunk, names another base.

// Parses a record that is intact and belongs to a commit.
absl::StatusOr<CommitRecord> ParseCommit(Bytes record, int64_t position);
// Returns the size of the record, or for a kAppend the most that it can have.
int64_t RecordSize(const CommitRecordParts& commit);
// Appends the record to `out`.
void AppendRecord(const CommitRecordParts& commit, int64_t position, std::vector<std::byte>& out);

// Returns nothing unless `bytes` begins with an intact receipt.
std::optional<Receipt> FindReceipt(Bytes bytes, int64_t position);
// Appends the receipt to `out`.
void AppendReceipt(const Receipt& receipt, int64_t position, std::vector<std::byte>& out);

// Returns nothing unless `bytes` is an intact record that tells where the journal continues.
std::optional<InheritedJournal> FindGoesOn(Bytes bytes, int64_t position);
std::vector<std::byte> EncodeGoesOn(const InheritedJournal& journal, int64_t position);

// Returns nothing unless `bytes` is an intact record that tells how a journal ended.
std::optional<EndedJournal> FindEnded(Bytes bytes, int64_t position);
std::vector<std::byte> EncodeEnded(const EndedJournal& ended, int64_t position);

// Encodes the record that sends readers of a file to the one that took its name.
std::vector<std::byte> EncodeReplaced();

// Returns the name that commit records have for the checkpoint that they follow.
uint64_t BaseIdentity(const FrameHeader& header, Bytes trailer,
                      const std::vector<LayerPlace>& layers, uint64_t nonce);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_JOURNAL_H_
