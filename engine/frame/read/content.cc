#include "engine/frame/read/content.h"

#include <algorithm>
#include <utility>

#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/read_ahead.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

namespace {

// Hashes numbers and byte strings as they come. Not thread-safe.
class ContentHasher {
 public:
  template <typename T>
  void Add(T number) {
    pending_.Le(number);
    if (pending_.size() >= kPiece) Flush();
  }
  // Adds the size too, so that no two sequences of strings look the same.
  void AddBytes(Bytes bytes) {
    Add(static_cast<uint64_t>(bytes.size()));
    Flush();
    stream_.Update(bytes);
  }
  uint64_t Digest() {
    Flush();
    return stream_.Digest();
  }

 private:
  static constexpr size_t kPiece = 1 << 16;

  void Flush() {
    std::vector<std::byte> bytes = std::move(pending_).Take();
    stream_.Update(bytes);
    bytes.clear();
    pending_ = ByteWriter(std::move(bytes));
  }

  Xxh3Stream stream_;
  ByteWriter pending_;
};

absl::Status AddMetadata(const State& state, ContentHasher& hasher) {
  for (const Metalayer& layer : state.metadata->metalayers) {
    hasher.AddBytes(AsBytes(layer.name));
    hasher.AddBytes(layer.content);
  }
  for (const VlMetalayer& layer : state.metadata->vlmetalayers) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content,
                           DecodeVlLayer(*state.env(), layer));
    hasher.AddBytes(AsBytes(layer.name));
    hasher.AddBytes(content);
  }
  return absl::OkStatus();
}

}  // namespace

int64_t ShortChunkNbytes(const State& state) {
  if (state.chunksize <= 0 || state.vlblocks) return 0;
  const int64_t items = ItemsOfChunk(*state.metadata);
  if (items == 0 || !IsArray(state)) return state.nbytes % state.chunksize;
  return state.metadata->array->shape[0] % items * state.header().typesize;
}

int64_t CompleteChunks(const State& state) {
  return CountChunks(state) - (ShortChunkNbytes(state) > 0 ? 1 : 0);
}

absl::StatusOr<std::vector<std::byte>> ReadShortChunk(const State& state, VerifyPolicy policy) {
  const int64_t nbytes = ShortChunkNbytes(state);
  std::vector<std::byte> items;
  if (nbytes == 0) return items;
  CAIRN_ASSIGN_OR_RETURN(items, ReadWholeChunk(state, CompleteChunks(state), policy));
  items.resize(static_cast<size_t>(nbytes));
  return items;
}

absl::Status ForEachChunkKey(const State& state,
                             absl::FunctionRef<absl::Status(uint64_t key)> visit) {
  const int64_t count = CompleteChunks(state);
  int64_t nchunk = 0;
  ReadAhead ahead(state, 0, count);
  ScratchBuffer scratch;
  return state.chunks.ForEach([&](const IndexEntry& entry) -> absl::Status {
    if (nchunk == count) return absl::OkStatus();
    auto key = static_cast<uint64_t>(entry.value);
    if (!format::IsSpecialEntry(entry.value)) key = entry.fingerprint;
    if (key == 0) {
      ahead.Reach(nchunk);
      CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored,
                             ReadStored(state, nchunk, VerifyPolicy::kAlways, scratch));
      key = format::HashChunk(stored.bytes());
    }
    ++nchunk;
    return visit(key);
  });
}

bool IsSpecialKey(uint64_t key) { return format::SpecialOfEntry(static_cast<int64_t>(key)).ok(); }

absl::StatusOr<uint64_t> HashContent(const State& state) {
  CAIRN_RETURN_IF_ERROR(state.checkpoint->trailer_damage);
  ContentHasher hasher;
  hasher.Add(state.header().typesize);
  hasher.Add(state.chunksize);
  hasher.Add(state.nbytes);
  CAIRN_RETURN_IF_ERROR(ForEachChunkKey(state, [&](uint64_t key) {
    hasher.Add(key);
    return absl::OkStatus();
  }));
  if (ShortChunkNbytes(state) > 0) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> items,
                           ReadShortChunk(state, VerifyPolicy::kFirstTouch));
    hasher.AddBytes(items);
  }
  CAIRN_RETURN_IF_ERROR(AddMetadata(state, hasher));
  return hasher.Digest();
}

absl::StatusOr<format::Increment> ReadIncrement(const State& state) {
  CAIRN_RETURN_IF_ERROR(state.checkpoint->trailer_damage);
  const std::vector<VlMetalayer>& layers = state.metadata->vlmetalayers;
  const auto layer = std::ranges::find(layers, format::kIncrementLayer, &VlMetalayer::name);
  if (layer == layers.end()) {
    return FailedPrecondition("the frame is not an increment: it has no vlmetalayer %s",
                              format::kIncrementLayer);
  }
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content, DecodeVlLayer(*state.env(), *layer));
  return format::ParseIncrement(content);
}

}  // namespace cairn::frame
