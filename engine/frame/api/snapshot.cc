#include "cairn/snapshot.h"

#include <algorithm>

#include "cairn/copy.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/encoder.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/copy/snapshot_copy.h"
#include "engine/frame/open/journal_check.h"
#include "engine/frame/read/array_items.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/content.h"
#include "engine/frame/read/field_reader.h"
#include "engine/frame/read/range_reader.h"
#include "engine/frame/read/read_ahead.h"
#include "engine/frame/read/scattered_reader.h"
#include "engine/frame/read/verifier.h"
#include "engine/frame/state/initial_state.h"
#include "engine/frame/state/state.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn {

namespace {

// Turns kInvalidArgument into damage: these numbers come from the file, and a caller could not give
// them.
absl::StatusOr<std::vector<std::byte>> MakeSpecial(const frame::State& state, SpecialValue special,
                                                   int32_t nbytes) {
  CompressionOptions options;
  options.typesize = state.header().typesize;
  const auto encoder = chunk::Encoder::Make(options, &state.env()->pool);
  auto bytes = encoder.ok() ? encoder->EncodeSpecial(special, nbytes, {}) : encoder.status();
  if (absl::IsInvalidArgument(bytes.status())) {
    return WithCode(absl::StatusCode::kDataLoss, bytes.status());
  }
  return bytes;
}

// Makes a chunk for an entry that the index or the journal holds without one.
absl::StatusOr<Chunk> MakeChunk(const frame::State& state, const frame::ChunkReader& open,
                                SpecialValue special) {
  CAIRN_RETURN_IF_ERROR(frame::CheckChunkNbytes(state, open.nbytes()));
  auto bytes = std::make_shared<std::vector<std::byte>>();
  if (special == SpecialValue::kNone) {
    std::vector<std::byte> raw(static_cast<size_t>(open.nbytes()));
    CAIRN_RETURN_IF_ERROR(open.Read(0, raw));
    *bytes = chunk::MemcpyedChunk(raw, state.header().typesize);
  } else {
    CAIRN_ASSIGN_OR_RETURN(*bytes, MakeSpecial(state, special, open.nbytes()));
  }
  return Chunk(*bytes, bytes);
}

// Returns the chunk of an entry, with an owner, or the blocks of it that hold `needed` bytes.
absl::StatusOr<Chunk> PinChunk(const frame::State& state, const ChunkEntry& entry,
                               const std::span<const ByteRange>* needed) {
  const chunk::WorkspacePool::Lease lease = state.env()->pool.Acquire();
  const auto make = [&]() -> absl::StatusOr<Chunk> {
    CAIRN_ASSIGN_OR_RETURN(
        const frame::ChunkReader chunk,
        frame::ChunkReader::Open(state, entry.index, state.env()->verify, lease->stored));
    return MakeChunk(state, chunk, entry.special);
  };
  if (!entry.stored()) return make();
  CAIRN_ASSIGN_OR_RETURN(
      frame::StoredChunk stored,
      frame::PinStored(state, entry.index, state.env()->verify, lease->stored, needed));
  if (frame::DependsOnFrame(state, stored.header)) return make();
  return std::move(stored.chunk);
}

// Returns a chunk with its owner, or the blocks of it that hold `needed` bytes.
absl::StatusOr<Chunk> GetPinned(const std::shared_ptr<const frame::State>& state,
                                const absl::StatusOr<ChunkEntry>& entry,
                                const std::span<const ByteRange>* needed) {
  if (!entry.ok()) return entry.status();
  frame::AnnounceNext(*state, entry->index, entry->index + 1);
  absl::StatusOr<Chunk> chunk = PinChunk(*state, *entry, needed);
  if (!chunk.ok() || state->writers_file == nullptr) return chunk;
  // A staged chunk needs the writer's lock as long as it is read.
  const auto owner =
      std::make_shared<std::pair<Chunk, std::shared_ptr<const frame::State>>>(*chunk, state);
  return Chunk(chunk->bytes(), owner);
}

}  // namespace

const FrameInfo& Snapshot::info() const { return state_->info(); }

std::optional<FileIdentity> Snapshot::file() const { return state_->checkpoint->source.identity(); }

const std::vector<Metalayer>& Snapshot::metalayers() const { return state_->metadata->metalayers; }

std::vector<std::string> Snapshot::vlmetalayers() const {
  std::vector<std::string> names;
  for (const frame::VlMetalayer& layer : state_->metadata->vlmetalayers)
    names.push_back(layer.name);
  return names;
}

CreateOptions Snapshot::create_options() const {
  CreateOptions options;
  options.compression = frame::CompressionOf(state_->header());
  const FrameInfo about = info();
  if (about.variable_chunks) {
    options.chunksize = ChunkSize::Variable();
  } else {
    options.chunksize = about.chunksize.has_value() ? *about.chunksize : ChunkSize::AsFirstChunk();
  }
  options.layout = info().layout;
  options.metalayers = metalayers();
  return options;
}

absl::StatusOr<std::vector<std::byte>> Snapshot::GetMetalayer(std::string_view name) const {
  const auto it = std::ranges::find(metalayers(), name, &Metalayer::name);
  if (it != metalayers().end()) return it->content;
  return NotFound("metalayer %s", name);
}

absl::StatusOr<std::vector<std::byte>> Snapshot::GetVlmetalayer(std::string_view name) const {
  CAIRN_RETURN_IF_ERROR(state_->checkpoint->trailer_damage);
  const auto it =
      std::ranges::find(state_->metadata->vlmetalayers, name, &frame::VlMetalayer::name);
  if (it != state_->metadata->vlmetalayers.end()) return frame::DecodeVlLayer(*state_->env(), *it);
  return NotFound("vlmetalayer %s", name);
}

bool Snapshot::HasVlmetalayer(std::string_view name) const {
  const std::vector<frame::VlMetalayer>& layers = state_->metadata->vlmetalayers;
  return std::ranges::find(layers, name, &frame::VlMetalayer::name) != layers.end();
}

absl::StatusOr<ChunkEntry> Snapshot::GetEntry(int64_t nchunk) const {
  CAIRN_RETURN_IF_ERROR(frame::CheckChunkNumber(*state_, nchunk));
  ChunkEntry result{.index = nchunk};
  if (frame::IsPartialChunk(*state_, nchunk)) return result;
  CAIRN_ASSIGN_OR_RETURN(const frame::IndexEntry entry, state_->chunks.Get(nchunk));
  if (format::IsSpecialEntry(entry.value)) {
    CAIRN_ASSIGN_OR_RETURN(result.special, format::SpecialOfEntry(entry.value));
  } else {
    const absl::StatusOr<frame::ChunkLocation> place = state_->chunk_source->Locate(entry.value);
    if (!place.ok()) return frame::AnnotateChunk(nchunk, place.status());
    result.offset = place->offset;
    result.file = place->file;
  }
  if (entry.fingerprint != 0) result.fingerprint = entry.fingerprint;
  if (entry.cbytes != 0) result.cbytes = entry.cbytes;
  return result;
}

absl::StatusOr<Chunk> Snapshot::GetChunk(int64_t nchunk) const {
  return GetPinned(state_, GetEntry(nchunk), nullptr);
}

absl::StatusOr<Chunk> Snapshot::GetChunk(int64_t nchunk, std::span<const ByteRange> needed) const {
  return GetPinned(state_, GetEntry(nchunk), &needed);
}

absl::StatusOr<int32_t> Snapshot::ChunkNbytes(int64_t nchunk) const {
  CAIRN_ASSIGN_OR_RETURN(const int32_t nbytes, frame::ChunkNbytes(*state_, nchunk));
  const absl::Status status = frame::CheckChunkNbytes(*state_, nbytes);
  if (!status.ok()) return frame::AnnotateChunk(nchunk, status);
  return nbytes;
}

absl::Status Snapshot::ReadChunk(int64_t nchunk, MutableItems items) const {
  CAIRN_RETURN_IF_ERROR(frame::CheckItemSize(items.value_size(), state_->header().typesize));
  CAIRN_RETURN_IF_ERROR(frame::CheckHoldsData(*state_));
  return frame::ReadChunk(*state_, nchunk, items.bytes());
}

const std::optional<ArrayInfo>& Snapshot::array() const { return state_->metadata->array; }

absl::Status Snapshot::ReadBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                               MutableItems dst) const {
  CAIRN_RETURN_IF_ERROR(frame::CheckItemSize(dst.value_size(), state_->header().typesize));
  CAIRN_RETURN_IF_ERROR(frame::CheckHoldsData(*state_));
  return frame::ReadBox(*state_, start, shape, dst.bytes());
}

absl::Status Snapshot::ReadItems(int64_t start, MutableItems items) const {
  CAIRN_RETURN_IF_ERROR(frame::CheckItemSize(items.value_size(), state_->header().typesize));
  CAIRN_RETURN_IF_ERROR(frame::CheckHoldsData(*state_));
  const MutableBytes dst = items.bytes();
  const int64_t typesize = state_->header().typesize;
  if (static_cast<int64_t>(dst.size()) % typesize != 0) {
    return InvalidArgument("a buffer of %d bytes: its size is not a multiple of the typesize %d",
                           dst.size(), typesize);
  }
  if (state_->metadata->array.has_value()) return frame::ReadArrayItems(*state_, start, dst);
  const int64_t count = static_cast<int64_t>(dst.size()) / typesize;
  if (!RangeFits(start, count, state_->nbytes / typesize)) {
    return OutOfRange("%d items from number %d on: there are %d", count, start,
                      state_->nbytes / typesize);
  }
  return frame::ReadRange(*state_, start * typesize, dst);
}

absl::Status Snapshot::ReadItemsAt(std::span<const int64_t> items, MutableItems dst) const {
  CAIRN_RETURN_IF_ERROR(frame::CheckItemSize(dst.value_size(), state_->header().typesize));
  CAIRN_RETURN_IF_ERROR(frame::CheckHoldsData(*state_));
  return frame::GatherItems(*state_, items, dst.bytes());
}

absl::Status Snapshot::ReadFields(int64_t start, int64_t nitems,
                                  std::span<const FieldSpan> fields) const {
  CAIRN_RETURN_IF_ERROR(frame::CheckHoldsData(*state_));
  return frame::ReadFields(*state_, start, nitems, fields);
}

absl::Status Snapshot::ReadBytes(int64_t begin, MutableBytes dst) const {
  CAIRN_RETURN_IF_ERROR(frame::CheckHoldsData(*state_));
  return frame::ReadRange(*state_, begin, dst);
}

absl::StatusOr<VerifyReport> Snapshot::Verify(const VerifyOptions& options) const {
  const auto progress = [&](int64_t done) {
    return options.progress == nullptr || options.progress(done);
  };
  CAIRN_RETURN_IF_ERROR(frame::CheckHoldsData(*state_));
  CAIRN_ASSIGN_OR_RETURN(const frame::JournalCheck journal, frame::CheckJournal(*state_));
  return frame::VerifyState(*state_, journal, options.depth, progress);
}

absl::StatusOr<uint64_t> Snapshot::ContentHash() const { return frame::HashContent(*state_); }

absl::Status Snapshot::CopyTo(const std::string& path, const CopyOptions& options) const {
  const Snapshot* const since = options.since.has_value() ? &*options.since : nullptr;
  return frame::CopySnapshot(*state_, since != nullptr ? since->state_.get() : nullptr, path,
                             options);
}

absl::Status Snapshot::CopyTo(const std::string& path) const { return CopyTo(path, {}); }

absl::StatusOr<std::vector<std::byte>> Snapshot::ToBuffer() const {
  return frame::SnapshotToBuffer(*state_);
}

absl::StatusOr<IncrementInfo> Snapshot::GetIncrementInfo() const {
  CAIRN_ASSIGN_OR_RETURN(const format::Increment increment, frame::ReadIncrement(*state_));
  return IncrementInfo{.base_hash = increment.base,
                       .result_hash = increment.result,
                       .base_generation = increment.since_generation,
                       .result_generation = increment.generation};
}

}  // namespace cairn
