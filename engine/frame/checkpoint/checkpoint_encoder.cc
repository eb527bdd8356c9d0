#include "engine/frame/checkpoint/checkpoint_encoder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/chunk/join_blocks.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "engine/format/trailer.h"
#include "engine/frame/checkpoint/checkpoint_trailer.h"
#include "engine/frame/index/chunk_table.h"

namespace cairn::frame {

namespace {

// The trailer's length is an i32 in practice, and the table of fingerprints is most of it. The seal
// has a copy of the header, which is short in practical frames.
constexpr int64_t kMaxTableBytes = int64_t{3} << 29;
constexpr int64_t kMaxHeaderBytes = int64_t{1} << 28;

// Large checkpoints that grow bit by bit get memory of the same size, so that the memory of an old
// one serves the next. Otherwise the allocator asks the kernel for pages each time.
constexpr int64_t kTailStep = int64_t{64} << 10;

size_t RoomForTail(int64_t size) {
  return static_cast<size_t>(size < kTailStep ? size : CeilDiv(size, kTailStep) * kTailStep);
}

// The entries from number `first` on. The entries before fill the first pages of the committed
// index, or all of it, and its stored bytes are reused.
struct Columns {
  int64_t first = 0;
  std::vector<int64_t> entries;
  std::vector<uint64_t> fingerprints;
  std::vector<uint32_t> sizes;
};

absl::StatusOr<Columns> ReadIndex(const ChunkIndex& chunks, int64_t first) {
  Columns columns;
  columns.first = first;
  columns.entries.reserve(static_cast<size_t>(chunks.size() - first));
  columns.fingerprints.reserve(static_cast<size_t>(chunks.size() - first));
  columns.sizes.reserve(static_cast<size_t>(chunks.size() - first));
  const auto take = [&](const IndexEntry& entry) {
    columns.entries.push_back(entry.value);
    columns.fingerprints.push_back(entry.fingerprint);
    columns.sizes.push_back(static_cast<uint32_t>(entry.cbytes));
    return absl::OkStatus();
  };
  CAIRN_RETURN_IF_ERROR(chunks.ForEach(take, first));
  return columns;
}

// Returns how many entries can be reused: all of an index that nothing has changed, or those of the
// complete pages before the first change. The index must still match its seal, sizes included.
int64_t EntriesToKeep(const ChunkIndex& chunks) {
  const CommittedIndex* const base = chunks.base();
  if (base == nullptr || !base->seal().has_value() || !base->seal()->table.has_sizes()) return 0;
  const int64_t unchanged = chunks.unchanged();
  const bool all = unchanged == chunks.size() && unchanged == base->size();
  // At least one entry follows the pages.
  const int64_t most = std::min(unchanged, chunks.size() - 1);
  const int64_t kept = all ? unchanged : most - most % format::kPageEntries;
  return kept > 0 && Xxh3(base->stored()) == base->seal()->index_hash ? kept : 0;
}

template <typename T>
void StoreAll(const std::vector<T>& numbers, MutableBytes out) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    StoreLe(out.data() + i * sizeof(T), static_cast<std::make_unsigned_t<T>>(numbers[i]));
  }
}

// Returns the hashes of all pages. `table` has the columns of the new entries.
std::vector<uint64_t> HashPages(const Columns& columns, const CommittedIndex* base,
                                const ChunkTable::Columns& table) {
  std::vector<uint64_t> pages;
  if (columns.first > 0) {
    const std::vector<uint64_t>& old = base->seal()->pages;
    const int64_t kept_pages = CeilDiv<int64_t>(columns.first, format::kPageEntries);
    pages.assign(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(kept_pages));
  }
  std::vector<std::byte> raw(columns.entries.size() * sizeof(int64_t));
  StoreAll(columns.entries, raw);
  constexpr auto kPage = static_cast<size_t>(format::kPageEntries);
  const auto part = [](Bytes column, size_t entry_size, size_t begin, size_t count) {
    return column.subspan(begin * entry_size, count * entry_size);
  };
  for (size_t at = 0; at < columns.entries.size(); at += kPage) {
    const size_t count = std::min(kPage, columns.entries.size() - at);
    pages.push_back(format::HashPage(part(raw, sizeof(int64_t), at, count),
                                     part(table.fingerprints, sizeof(uint64_t), at, count),
                                     part(table.sizes, sizeof(uint32_t), at, count)));
  }
  return pages;
}

absl::StatusOr<int64_t> CountUncovered(const Columns& columns, const CommittedIndex* base) {
  int64_t uncovered = 0;
  if (columns.first > 0 && base->seal()->uncovered > 0) {
    uncovered = base->seal()->uncovered;
    CAIRN_RETURN_IF_ERROR(
        base->ForEach(columns.first, base->size() - columns.first, [&](const IndexEntry& dropped) {
          if (IsUncovered(dropped)) --uncovered;
          return absl::OkStatus();
        }));
    if (uncovered < 0) return DataLoss("seal: more chunks than it says have no fingerprint");
  }
  for (size_t i = 0; i < columns.entries.size(); ++i) {
    if (IsUncovered({.value = columns.entries[i], .fingerprint = columns.fingerprints[i]})) {
      ++uncovered;
    }
  }
  return uncovered;
}

// Encodes the index and the table of fingerprints and sizes, all entries at once.
class CheckpointEncoder {
 public:
  CheckpointEncoder(const StagedState& staged, const CheckpointPlan& plan)
      : staged_(staged), plan_(plan), header_(staged.header), seal_(plan.seal) {}

  absl::StatusOr<CheckpointBytes> Run();

 private:
  absl::Status AddIndex();
  absl::Status AddTable();
  absl::Status SetArea();

  const StagedState& staged_;
  const CheckpointPlan& plan_;
  format::FrameHeader header_;
  format::Seal seal_;
  Columns columns_;
  std::vector<std::byte> index_;
  // The columns of the table: those of the entries that are kept, and the new ones. A table is
  // long, so they are joined where they stay.
  ChunkTable::Columns kept_;
  std::vector<std::byte> fingerprints_;
  std::vector<std::byte> sizes_;
  std::vector<std::byte> zeros_;  // what `kept_` shows if the table stores none
};

// Joins the first `kept` entries as they are stored with those of `rest`. Returns nothing if the
// stored blocks do not fit.
std::optional<std::vector<std::byte>> JoinIndex(const ChunkIndex& chunks, int64_t kept,
                                                Bytes rest) {
  std::optional<std::vector<std::byte>> joined =
      chunk::JoinBlocks(chunks.base()->stored(), kept / format::kPageEntries, rest);
  if (!joined.has_value()) return std::nullopt;
  // The blocks of the stored index may be of another size than pages.
  const absl::StatusOr<chunk::Header> header = chunk::ParseHeader(*joined);
  const bool fits = header.ok() && header->nbytes == chunks.size() * format::kIndexTypesize;
  return fits ? std::move(joined) : std::nullopt;
}

absl::Status CheckpointEncoder::AddIndex() {
  const ChunkIndex& chunks = staged_.chunks;
  if (chunks.size() == 0) return absl::OkStatus();
  // SetArea needs all entries of a sparse frame.
  const bool contiguous = header_.layout == Layout::kContiguous;
  for (int64_t kept = contiguous ? EntriesToKeep(chunks) : 0;; kept = 0) {
    if (kept == chunks.size()) {
      columns_.first = kept;
      index_ = ToVector(chunks.base()->stored());
      return absl::OkStatus();
    }
    CAIRN_ASSIGN_OR_RETURN(columns_, ReadIndex(chunks, kept));
    CAIRN_ASSIGN_OR_RETURN(index_, format::EncodeIndex(columns_.entries, plan_.pool));
    if (kept == 0) return absl::OkStatus();
    std::optional<std::vector<std::byte>> joined = JoinIndex(chunks, kept, index_);
    if (!joined.has_value()) continue;
    index_ = *std::move(joined);
    return absl::OkStatus();
  }
}

absl::Status CheckpointEncoder::AddTable() {
  if (seal_.type == FingerprintType::kNone) return absl::OkStatus();
  const CommittedIndex* const base = staged_.chunks.base();
  if (columns_.first > 0) kept_ = base->seal()->table.Part(0, columns_.first, zeros_);
  fingerprints_.resize(columns_.fingerprints.size() * sizeof(uint64_t));
  StoreAll(columns_.fingerprints, fingerprints_);
  sizes_.resize(columns_.sizes.size() * sizeof(uint32_t));
  StoreAll(columns_.sizes, sizes_);
  seal_.pages = HashPages(columns_, base, {.fingerprints = fingerprints_, .sizes = sizes_});
  CAIRN_ASSIGN_OR_RETURN(seal_.uncovered, CountUncovered(columns_, base));
  return absl::OkStatus();
}

// Sets the length of the chunk area. In a contiguous frame it leads to the index. In a sparse frame
// it is the sum of all chunk files, or more if C-Blosc2 needs more.
absl::Status CheckpointEncoder::SetArea() {
  if (header_.layout == Layout::kContiguous) {
    return SetIndexBegin(plan_.index_begin, staged_.chunks.size(), header_);
  }
  header_.cbytes = staged_.stored_bytes.value_or(header_.cbytes);
  // C-Blosc2 takes file numbers for offsets into an area of this length, and refuses larger ones.
  if (columns_.entries.empty()) return absl::OkStatus();
  const int64_t largest = *std::ranges::max_element(columns_.entries);
  if (largest < 0) return absl::OkStatus();
  const std::optional<int64_t> end = CheckedAdd<int64_t>(largest, chunk::kHeaderSize);
  if (!end.has_value()) return DataLoss("index: names a chunk file of number %d", largest);
  header_.cbytes = std::max(header_.cbytes, *end);
  return absl::OkStatus();
}

absl::StatusOr<CheckpointBytes> CheckpointEncoder::Run() {
  CAIRN_RETURN_IF_ERROR(AddIndex());
  CAIRN_RETURN_IF_ERROR(SetArea());
  const bool sealed = !plan_.plain && HasRoomForSeal(staged_);
  if (sealed) CAIRN_RETURN_IF_ERROR(AddTable());
  seal_.index_hash = index_.empty() ? 0 : Xxh3(index_);
  const bool has_table = sealed && seal_.type != FingerprintType::kNone;
  std::array<Bytes, 4> columns = {kept_.fingerprints, fingerprints_, kept_.sizes, sizes_};
  const auto is_zero = [](Bytes column) { return column.empty() || IsRunOfZeros(column); };
  if (std::ranges::all_of(columns, is_zero)) columns.fill({});
  const auto omitted =
      std::accumulate(columns.begin(), columns.end(), int64_t{0},
                      [](int64_t size, Bytes column) { return size + std::ssize(column); });
  const std::vector<std::byte> head = ChunkTable::Head(omitted);
  const format::NamedBytes table = {
      .name = format::kTableLayer, .content = head, .omitted = omitted};
  CAIRN_ASSIGN_OR_RETURN(
      CheckpointTrailer trailer,
      EncodeCheckpointTrailer(staged_, header_, plan_.index_begin + std::ssize(index_),
                              sealed ? &seal_ : nullptr, has_table ? &table : nullptr));
  const Bytes before = Bytes(trailer.bytes).first(static_cast<size_t>(trailer.table_end));
  const Bytes after = Bytes(trailer.bytes).subspan(before.size());
  CheckpointBytes out = {.tail = {}, .header = std::move(trailer.header)};
  out.tail.reserve(RoomForTail(std::ssize(index_) + std::ssize(trailer.bytes) + omitted));
  const auto append = [&](Bytes part) {
    out.tail.insert(out.tail.end(), part.begin(), part.end());
  };
  append(index_);
  append(before);
  std::ranges::for_each(columns, append);
  append(after);
  return out;
}

}  // namespace

bool HasRoomForSeal(const StagedState& staged) {
  return LeavesRoomForSeal(staged.metadata->vlmetalayers.size()) &&
         staged.header.header_len <= kMaxHeaderBytes &&
         staged.nchunks() <= kMaxTableBytes / format::kTableEntry;
}

int64_t ChangedHeaderBytes(const StagedState& staged) {
  const format::FrameHeader& header = staged.header;
  int64_t end = format::kFixedHeaderSize;
  for (size_t i = 0; i < header.places.size(); ++i) {
    const Bytes there = format::ContentOf(header.places[i], *staged.header_bytes);
    const Bytes content = staged.metadata->metalayers[i].content;
    size_t changed = content.size();
    while (changed > 0 && content[changed - 1] == there[changed - 1]) --changed;
    if (changed > 0) end = std::max(end, header.places[i].begin + static_cast<int64_t>(changed));
  }
  return end;
}

absl::StatusOr<CheckpointBytes> EncodeCheckpoint(const StagedState& staged,
                                                 const CheckpointPlan& plan) {
  return CheckpointEncoder(staged, plan).Run();
}

absl::Status StoreCheckpoint(File& file, const StagedState& staged, CheckpointPlan plan) {
  if (staged.header.nbytes == 0) plan.index_begin = staged.header.header_len;
  CAIRN_ASSIGN_OR_RETURN(const CheckpointBytes bytes, EncodeCheckpoint(staged, plan));
  CAIRN_RETURN_IF_ERROR(file.WriteAt(plan.index_begin, bytes.tail));
  return file.WriteAt(0, bytes.header);
}

}  // namespace cairn::frame
