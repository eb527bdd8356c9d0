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
  for (int64_t i = 0; i < chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, chunks.Get(i));
    columns.entries.push_back(entry.value);
    columns.fingerprints.push_back(entry.fingerprint);
  }
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

// The draft's header with the sizes of this checkpoint; bytes that no writer changes stay.
std::vector<std::byte> EncodeHeader(const Draft& draft, int64_t index_begin, int64_t frame_size,
                                    bool has_layers) {
  format::FrameHeader header = draft.header;
  header.frame_size = frame_size;
  header.cbytes = index_begin - header.header_len;
  header.has_vlmetalayers = has_layers;
  std::vector<std::byte> bytes = draft.header_bytes;
  CopyBytes(format::EncodeFixedHeader(header), bytes);
  for (size_t i = 0; i < header.places.size(); ++i) {
    CopyBytes(header.metalayers[i].content,
              MutableBytes(bytes).subspan(static_cast<size_t>(header.places[i].begin)));
  }
  return bytes;
}

// The layers of a trailer, Cairn's own last.
class Layers {
 public:
  explicit Layers(const Draft& draft) {
    for (const VlLayer& layer : draft.vlmetalayers) {
      named_.push_back({layer.name, layer.chunk.bytes()});
    }
  }
  void Add(std::string_view name, Bytes chunk) { named_.push_back({name, chunk}); }
  std::span<const format::NamedBytes> named() const { return named_; }

 private:
  std::vector<format::NamedBytes> named_;
};

}  // namespace

absl::StatusOr<CheckpointBytes> EncodeCheckpoint(const Draft& draft, const CheckpointPlan& plan,
                                                 chunk::WorkspacePool* pool) {
  CAIRN_ASSIGN_OR_RETURN(const Columns columns, ReadIndex(draft.chunks));
  CheckpointBytes out;
  if (!columns.entries.empty()) {
    CAIRN_ASSIGN_OR_RETURN(out.tail, format::EncodeIndex(columns.entries, pool));
  }
  const bool sealable =
      LeavesRoomForSeal(draft.vlmetalayers.size()) &&
      static_cast<int64_t>(std::span(columns.fingerprints).size_bytes()) <= kMaxTableBytes;
  const FingerprintType type = sealable && !plan.plain ? plan.seal.type : FingerprintType::kNone;

  Layers layers(draft);
  format::Seal seal = plan.seal;
  std::vector<std::byte> table;
  seal.pages.clear();
  if (type != FingerprintType::kNone) {
    table = FingerprintTable::Encode(columns.fingerprints);
    layers.Add(format::kTableLayer, table);
    seal.pages = HashPages(columns);
    seal.uncovered = CountUncovered(columns);
  }
  seal.index_hash = out.tail.empty() ? 0 : Xxh3(out.tail);
  seal.dead_bytes = -1;
  if (draft.stored_bytes.has_value()) {
    seal.dead_bytes = plan.index_begin - draft.header.header_len - *draft.stored_bytes;
  }
  // The seal names the header, the header the frame's size, and that follows from the seal's size,
  // which the content of the copy does not change.
  seal.header_copy = draft.header_bytes;
  std::vector<std::byte> seal_chunk = chunk::PlainChunk(format::EncodeSeal(seal));
  if (sealable && !plan.plain) layers.Add(format::kSealLayer, seal_chunk);
  const int64_t frame_size = plan.index_begin + static_cast<int64_t>(out.tail.size()) +
                             format::TrailerSize(layers.named());
  out.header = EncodeHeader(draft, plan.index_begin, frame_size, !layers.named().empty());
  seal.header_copy = out.header;
  seal.header_hash = Xxh3(out.header);
  // The chunk keeps its place and size, so the layer that refers to it stays good.
  CopyBytes(chunk::PlainChunk(format::EncodeSeal(seal)), seal_chunk);
  const std::vector<std::byte> trailer = format::EncodeTrailer(layers.named(), type);
  out.tail.insert(out.tail.end(), trailer.begin(), trailer.end());
  return out;
}

}  // namespace cairn::frame
