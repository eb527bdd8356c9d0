#include "engine/frame/checkpoint.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/plain.h"
#include "engine/format/index_entry.h"
#include "engine/format/trailer.h"
#include "engine/frame/fingerprint_table.h"
#include "engine/frame/vl_layers.h"

namespace cairn::frame {

namespace {

// The trailer's length is an i32 in practice, and the table of fingerprints is most of it.
constexpr int64_t kMaxTableBytes = int64_t{1} << 30;

struct Columns {
  std::vector<int64_t> entries;
  std::vector<uint64_t> fingerprints;
};

absl::StatusOr<Columns> ReadIndex(const ChunkIndex& chunks) {
  Columns columns;
  columns.entries.reserve(static_cast<size_t>(chunks.size()));
  columns.fingerprints.reserve(static_cast<size_t>(chunks.size()));
  CAIRN_RETURN_IF_ERROR(chunks.ForEach([&](const IndexEntry& entry) {
    columns.entries.push_back(entry.value);
    columns.fingerprints.push_back(entry.fingerprint);
    return absl::OkStatus();
  }));
  return columns;
}

template <typename T>
std::vector<std::byte> LittleEndian(std::span<const T> numbers) {
  std::vector<std::byte> out(numbers.size_bytes());
  for (size_t i = 0; i < numbers.size(); ++i) {
    StoreLe(out.data() + i * sizeof(T), static_cast<uint64_t>(numbers[i]));
  }
  return out;
}

std::vector<uint64_t> HashPages(const Columns& columns) {
  std::vector<uint64_t> pages;
  const size_t size = columns.entries.size();
  for (size_t first = 0; first < size; first += format::kPageEntries) {
    const size_t count = std::min(size - first, static_cast<size_t>(format::kPageEntries));
    pages.push_back(
        format::HashPage(LittleEndian(std::span(columns.entries).subspan(first, count)),
                         LittleEndian(std::span(columns.fingerprints).subspan(first, count))));
  }
  return pages;
}

int64_t CountUncovered(const Columns& columns) {
  int64_t uncovered = 0;
  for (size_t i = 0; i < columns.entries.size(); ++i) {
    if (!format::IsSpecialEntry(columns.entries[i]) && columns.fingerprints[i] == 0) ++uncovered;
  }
  return uncovered;
}

// Puts the parts together: each needs the sizes of the others, and their hashes.
class CheckpointEncoder {
 public:
  CheckpointEncoder(const Draft& draft, const CheckpointPlan& plan)
      : draft_(draft), plan_(plan), header_(draft.header), seal_(plan.seal) {
    for (const VlLayer& layer : draft.vlmetalayers) {
      layers_.push_back({layer.name, layer.chunk.bytes()});
    }
  }

  absl::StatusOr<CheckpointBytes> Run(chunk::WorkspacePool* pool);

 private:
  bool HasSeal(const Columns& columns) const;
  void AddTable(const Columns& columns);
  void AddSeal();
  void SetArea(const Columns& columns);
  void SetSizes();
  std::vector<std::byte> EncodeHeader() const;

  const Draft& draft_;
  const CheckpointPlan& plan_;
  format::FrameHeader header_;
  format::Seal seal_;
  FingerprintType type_ = FingerprintType::kNone;
  std::vector<std::byte> index_;
  std::vector<std::byte> table_;
  std::vector<std::byte> seal_chunk_;
  std::vector<format::NamedBytes> layers_;  // Cairn's own last
};

bool CheckpointEncoder::HasSeal(const Columns& columns) const {
  return !plan_.plain && LeavesRoomForSeal(draft_.vlmetalayers.size()) &&
         static_cast<int64_t>(std::span(columns.fingerprints).size_bytes()) <= kMaxTableBytes;
}

void CheckpointEncoder::AddTable(const Columns& columns) {
  type_ = plan_.seal.type;
  if (type_ == FingerprintType::kNone) return;
  table_ = FingerprintTable::Encode(columns.fingerprints);
  layers_.push_back({format::kTableLayer, table_});
  seal_.pages = HashPages(columns);
  seal_.uncovered = CountUncovered(columns);
}

void CheckpointEncoder::AddSeal() {
  if (draft_.chunks.size() == 1 && header_.nbytes < header_.chunksize) {
    seal_.chunksize = header_.chunksize;
    header_.chunksize = static_cast<int32_t>(header_.nbytes);
  }
  seal_.index_hash = index_.empty() ? 0 : Xxh3(index_);
  seal_.dead_bytes = -1;
  if (draft_.stored_bytes.has_value()) {
    seal_.dead_bytes = header_.cbytes - *draft_.stored_bytes;
  }
  // The seal names the header, the header the frame's size, and that follows from the seal's: so a
  // seal of the same size stands in until the header is known.
  seal_.header_copy = draft_.header_bytes;
  seal_chunk_ = chunk::PlainChunk(format::EncodeSeal(seal_));
  layers_.push_back({format::kSealLayer, seal_chunk_});
}

// Where the index lies behind the header; what all files hold in a sparse frame.
void CheckpointEncoder::SetArea(const Columns& columns) {
  if (header_.layout == Layout::kContiguous) {
    header_.cbytes = plan_.index_begin - header_.header_len;
    return;
  }
  header_.cbytes = draft_.stored_bytes.value_or(header_.cbytes);
  // C-Blosc2 takes the numbers of files for offsets into so many bytes, and refuses larger ones.
  if (columns.entries.empty()) return;
  const int64_t largest = *std::ranges::max_element(columns.entries);
  if (largest >= 0) header_.cbytes = std::max(header_.cbytes, largest + chunk::kHeaderSize);
}

void CheckpointEncoder::SetSizes() {
  header_.frame_size =
      plan_.index_begin + static_cast<int64_t>(index_.size()) + format::TrailerSize(layers_);
  header_.has_vlmetalayers = !layers_.empty();
}

// Bytes that no writer changes stay.
std::vector<std::byte> CheckpointEncoder::EncodeHeader() const {
  std::vector<std::byte> bytes = draft_.header_bytes;
  CopyBytes(format::EncodeFixedHeader(header_), bytes);
  for (size_t i = 0; i < header_.places.size(); ++i) {
    CopyBytes(header_.metalayers[i].content,
              MutableBytes(bytes).subspan(static_cast<size_t>(header_.places[i].begin)));
  }
  return bytes;
}

absl::StatusOr<CheckpointBytes> CheckpointEncoder::Run(chunk::WorkspacePool* pool) {
  CAIRN_ASSIGN_OR_RETURN(const Columns columns, ReadIndex(draft_.chunks));
  if (!columns.entries.empty()) {
    CAIRN_ASSIGN_OR_RETURN(index_, format::EncodeIndex(columns.entries, pool));
  }
  SetArea(columns);
  if (HasSeal(columns)) {
    AddTable(columns);
    AddSeal();
  }
  if (format::TrailerSize(layers_) > INT32_MAX) {
    return ResourceExhausted("trailer: %d bytes, at most %d", format::TrailerSize(layers_),
                             INT32_MAX);
  }
  SetSizes();
  CheckpointBytes out;
  out.header = EncodeHeader();
  if (!seal_chunk_.empty()) {
    seal_.header_copy = out.header;
    seal_.header_hash = Xxh3(out.header);
    CopyBytes(chunk::PlainChunk(format::EncodeSeal(seal_)), seal_chunk_);
  }
  out.tail = std::move(index_);
  const std::vector<std::byte> trailer = format::EncodeTrailer(layers_, type_);
  out.tail.insert(out.tail.end(), trailer.begin(), trailer.end());
  return out;
}

}  // namespace

absl::StatusOr<CheckpointBytes> EncodeCheckpoint(const Draft& draft, const CheckpointPlan& plan,
                                                 chunk::WorkspacePool* pool) {
  return CheckpointEncoder(draft, plan).Run(pool);
}

}  // namespace cairn::frame
