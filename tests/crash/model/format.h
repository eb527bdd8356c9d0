// The bytes of the modelled file: a checkpoint (header, chunks, index, trailer), then the journal:
// chunks, commit record, receipt, and so on.
#ifndef CAIRN_TESTS_CRASH_MODEL_FORMAT_H_
#define CAIRN_TESTS_CRASH_MODEL_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/model/disk.h"
#include "tests/crash/model/space.h"

namespace cairn::model {

uint64_t Hash(const Bytes& bytes, size_t begin, size_t end, uint64_t seed = 0);

struct ChunkRef {
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t hash = 0;  // of its bytes: the name of a chunk
  uint64_t end() const { return offset + size; }
  bool operator==(const ChunkRef&) const = default;
};

// The state that a commit makes: a list of chunks, and metadata.
struct State {
  std::vector<ChunkRef> chunks;
  uint64_t metadata = 1;
  bool operator==(const State&) const = default;
};

bool ChunkIsIntact(const Bytes& file, const ChunkRef& chunk);

// The checkpoint that a journal follows.
struct Base {
  uint64_t end = 0;  // of the frame; the journal begins here
  uint64_t id = 0;   // hash of lists and trailer, which has one of header and index
  bool operator==(const Base&) const = default;
};

// Its chunks lie right before it, or before the base's index.
struct BatchRecord {
  Base base;
  uint64_t generation = 0;
  uint64_t previous = 0;     // hash of the record before; of the first one: the base's identity
  uint64_t durable_end = 0;  // the file was durable up to there
  uint64_t metadata = 0;     // 0: not changed
  std::vector<uint64_t> removed = {};  // numbers of chunks, the last one first
  std::vector<ChunkRef> chunks = {};   // that come after the others
};

void Apply(const BatchRecord& record, State& state);

struct Receipt {
  Base base;
  uint64_t generation = 0;          // of the commit before it
  uint64_t boot = 0;                // 0: not known
  uint64_t durable_generation = 0;  // the newest that is durable, with all before it
};

// Stands where a journal ended that was followed by another checkpoint, once the header that leads
// to that one is durable.
struct Ended {
  Base base;                // of the journal
  uint64_t generation = 0;  // of that checkpoint
};

constexpr size_t kChunkHeaderSize = 32;
constexpr size_t kReceiptSize = 64;
constexpr size_t kEndedSize = 40;
constexpr size_t kReceiptDurableAt = 48;  // what follows is written again after the sync
size_t RecordSize(size_t chunks, size_t removed);

// `position` is added to the base's identity; 0: nothing is.
Bytes Encode(const BatchRecord& record, uint64_t position);
Bytes Encode(const Receipt& receipt, uint64_t position);
Bytes Encode(const Ended& ended, uint64_t position);

struct FoundRecord {
  BatchRecord record;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t hash = 0;
};

// Returns null if the bytes are not an intact record or receipt. `bound`: the base gives the
// position.
std::optional<FoundRecord> FindRecord(const Bytes& file, size_t position, bool bound);
std::optional<Receipt> FindReceipt(const Bytes& file, size_t position, bool bound);
std::optional<Ended> FindEnded(const Bytes& file, size_t position, bool bound);

// The end of the chunk whose header stands there.
std::optional<size_t> SkipChunk(const Bytes& file, size_t position);
// Makes the header of a chunk whose bytes no commit names.
Bytes MakeChunkHeader(uint64_t id, uint64_t size);
// `embedded` lies in the chunk unchanged.
Bytes MakeChunk(uint64_t id, size_t size, const Bytes& embedded = {});

// The bytes before its index that a checkpoint lists. The dead ones are free when no reader of an
// older checkpoint is left.
struct SpaceList {
  std::vector<Extent> free;
  std::vector<Extent> dead;
};

// The place where replay begins after a checkpoint.
struct JournalStart {
  uint64_t begin = 0;  // 0: at the checkpoint's end, with its own identity
  Base base;           // the base that the records name
  uint64_t previous = 0;
  uint64_t born = 0;  // readers of that generation may see the first records
};

struct Checkpoint {
  Base base;
  JournalStart journal;
  uint64_t generation = 0;
  uint64_t index_begin = 0;
  State state;
  SpaceList space;
  bool trailer_damaged = false;  // then only what the header says is known, and the index
};

// The result of replaying the journal so far, in a chunk that no commit names. It refers to the
// list of chunks of the checkpoint.
struct Summary {
  uint64_t generation = 0;
  uint64_t previous = 0;  // hash of the record of that generation
  uint64_t durable_end = 0;
  State state;
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Says where a summary lies.
struct Slot {
  uint64_t position = 0;  // 0: there is none
  uint64_t size = 0;
  uint64_t generation = 0;
  uint64_t previous = 0;
  uint64_t boot = 0;  // of the machine that wrote it; 0: the summary is durable, and all before it
};

// At the end of the checkpoint: the header of a chunk, a slot for the newest summary, and one for
// the newest that is durable.
constexpr size_t kSlotSize = 48;
constexpr size_t kAnchorSize = kChunkHeaderSize + 2 * kSlotSize;
// Which anchor and summaries belong to the checkpoint.
uint64_t AnchorIdentity(const Checkpoint& checkpoint, bool binds);
Bytes EmptyAnchor(uint64_t identity);
Bytes Encode(const Slot& slot, uint64_t identity);
uint64_t SlotPosition(const Checkpoint& checkpoint, size_t number);
std::optional<Slot> FindSlot(const Bytes& file, uint64_t position, uint64_t identity);
Bytes Encode(const Summary& summary, const Checkpoint& checkpoint, uint64_t identity);
std::optional<Summary> FindSummary(const Bytes& file, const Slot& slot,
                                   const Checkpoint& checkpoint, uint64_t identity, bool hashes);

struct CheckpointBytes {
  Bytes header;
  Bytes after_chunks;  // index and trailer
  Base base;
};

// The generation of the checkpoint that a journal of that identity begins after, if it ends there.
// A journal that was begun during commits has a random one: there may be records of it before any
// header leads there.
std::optional<uint64_t> TrailerGeneration(const Bytes& file, const Base& base);

constexpr size_t kFixedHeaderSize = 48;  // what a checkpoint changes

struct HeaderFormat {
  size_t size = 0;
  bool changes_whole = false;  // metadata lies past the first sector, too
};

// Takes all but the base, and the journal only where it is inherited. `nonce` distinguishes two
// checkpoints.
CheckpointBytes EncodeCheckpoint(const Checkpoint& checkpoint, const HeaderFormat& format,
                                 uint64_t nonce);
// Null, and `why`, when the file does not open.
std::optional<Checkpoint> ReadCheckpoint(const Bytes& file, size_t header_size, std::string& why);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_FORMAT_H_
