#include "engine/frame/stager.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "engine/frame/chunk_reader.h"
#include "engine/frame/foreign_chunk.h"
#include "engine/frame/vl_layers.h"

namespace cairn::frame {

namespace {

// Offsets in the trailer are 32-bit numbers, and the table of fingerprints needs its share of them.
constexpr int64_t kMaxVlBytes = int64_t{1} << 29;
constexpr int64_t kMaxChunks = kMaxChunkBytes / format::kIndexTypesize;

bool IsIndexSpecial(SpecialValue special) {
  return special == SpecialValue::kZeros || special == SpecialValue::kNans ||
         special == SpecialValue::kUninit;
}

}  // namespace

Stager::Stager(std::shared_ptr<const State> base, File* file, FrameSource source, int64_t begin,
               StagerOptions options)
    : base_(std::move(base)),
      source_(std::move(source)),
      options_(std::move(options)),
      draft_(*base_),
      log_(file, begin) {}

absl::Status Stager::Remember(absl::Status status) {
  if (!status.ok() && failure_.ok()) failure_ = status;
  return status;
}

absl::StatusOr<const chunk::Encoder*> Stager::GetEncoder() {
  if (!encoder_.has_value()) {
    CAIRN_ASSIGN_OR_RETURN(encoder_, chunk::Encoder::Make(options_.compression, &base_->env->pool));
  }
  return &*encoder_;
}

absl::Status Stager::CheckRoom(int64_t nbytes) const {
  const std::optional<int64_t> total = CheckedAdd(draft_.nbytes(), nbytes);
  if (!total.has_value()) return InvalidArgument("frame: more than 2^63 bytes");
  const int64_t chunksize =
      draft_.header.chunksize > 0 ? draft_.header.chunksize : int64_t{options_.chunksize};
  const int64_t count = fixed_chunks() ? CeilDiv(nbytes, chunksize) : 1;
  // What is over the limit could not be opened again.
  const int64_t limit = std::min<int64_t>(kMaxChunks, base_->env->limits.max_nchunks);
  if (draft_.chunks.size() + count <= limit) return absl::OkStatus();
  return ResourceExhausted("frame: more than %d chunks", limit);
}

void Stager::FixChunksize(int32_t chunksize) {
  if (draft_.header.chunksize == format::kChunksizeUnknown) draft_.header.chunksize = chunksize;
}

absl::Status Stager::ReopenShortChunk() {
  if (!draft_.tail.empty() || draft_.header.nbytes % draft_.header.chunksize == 0) {
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const State> state, View());
  chunk::ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(const OpenChunk last, OpenChunk::Open(*state, draft_.chunks.size() - 1,
                                                               base_->env->verify, scratch));
  std::vector<std::byte> items(static_cast<size_t>(last.nbytes()));
  CAIRN_RETURN_IF_ERROR(last.Read(0, items));
  draft_.RemoveLastChunk(last.nbytes(), static_cast<int64_t>(last.stored().size()));
  draft_.tail = std::move(items);
  return absl::OkStatus();
}

absl::Status Stager::StageChunk(Bytes chunk, int64_t nbytes) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t position, log_.Append(chunk));
  draft_.AddChunk(
      {.value = position - draft_.header.header_len, .fingerprint = format::HashChunk(chunk)},
      nbytes, static_cast<int64_t>(chunk.size()));
  return absl::OkStatus();
}

absl::Status Stager::EncodeChunk(Bytes items) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder* encoder, GetEncoder());
  // Where the index can stand for zeros it does; other readers know it for whole items of chunks of
  // one size only.
  const bool may_be_special =
      fixed_chunks() && items.size() % static_cast<size_t>(draft_.header.typesize) == 0;
  const MutableBytes out = encoded_.Get(MaxCompressedSize(items.size()));
  CAIRN_ASSIGN_OR_RETURN(const size_t size,
                         encoder->Encode(items, out,
                                         may_be_special ? chunk::Encoder::Zeros::kSpecial
                                                        : chunk::Encoder::Zeros::kBlocks));
  const Bytes chunk = out.first(size);
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk));
  if (header.special == SpecialValue::kNone) {
    return StageChunk(chunk, static_cast<int64_t>(items.size()));
  }
  draft_.AddChunk({.value = format::EntryOfSpecial(header.special)},
                  static_cast<int64_t>(items.size()), 0);
  return absl::OkStatus();
}

absl::Status Stager::StageFixed(Bytes items) {
  const auto chunksize = static_cast<size_t>(draft_.header.chunksize);
  draft_.edited = true;
  while (!items.empty()) {
    if (draft_.tail.empty() && items.size() >= chunksize) {
      CAIRN_RETURN_IF_ERROR(EncodeChunk(items.first(chunksize)));
      items = items.subspan(chunksize);
      continue;
    }
    const size_t n = std::min(items.size(), chunksize - draft_.tail.size());
    draft_.tail.insert(draft_.tail.end(), items.begin(),
                       items.begin() + static_cast<std::ptrdiff_t>(n));
    items = items.subspan(n);
    if (draft_.tail.size() == chunksize) {
      const std::vector<std::byte> full = std::exchange(draft_.tail, {});
      CAIRN_RETURN_IF_ERROR(EncodeChunk(full));
    }
  }
  return absl::OkStatus();
}

absl::Status Stager::StageItems(Bytes items) {
  return fixed_chunks() ? StageFixed(items) : EncodeChunk(items);
}

absl::Status Stager::Append(Bytes items) {
  if (items.empty()) return absl::OkStatus();
  const bool empty = draft_.nbytes() == 0;
  if (draft_.header.vlblocks && !empty) {
    return FailedPrecondition("a frame of variable blocks takes whole chunks only");
  }
  if (!fixed_chunks() && items.size() > kMaxChunkBytes) {
    return InvalidArgument("a chunk has at most %d bytes, got %d", kMaxChunkBytes, items.size());
  }
  CAIRN_RETURN_IF_ERROR(CheckRoom(static_cast<int64_t>(items.size())));
  CAIRN_RETURN_IF_ERROR(GetEncoder().status());
  FixChunksize(options_.chunksize);
  if (fixed_chunks()) CAIRN_RETURN_IF_ERROR(ReopenShortChunk());
  draft_.header.vlblocks = false;
  return Remember(StageItems(items));
}

absl::Status Stager::StageForeign(const ForeignChunk& foreign) {
  if (foreign.special != SpecialValue::kNone) {
    draft_.AddChunk({.value = format::EntryOfSpecial(foreign.special)}, foreign.nbytes, 0);
    return absl::OkStatus();
  }
  if (!foreign.items.empty()) return EncodeChunk(foreign.items);
  return StageChunk(foreign.stored, foreign.nbytes);
}

absl::StatusOr<ForeignChunk> Stager::PrepareForeign(Bytes chunk,
                                                    const chunk::Header& header) const {
  ForeignContext context;
  context.typesize = draft_.header.typesize;
  context.fixed_chunks = fixed_chunks();
  context.registry = options_.compression.registry;
  context.pool = &base_->env->pool;
  return MakeForeignChunk(chunk, header, context);
}

absl::Status Stager::AppendChunk(Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk));
  const bool empty = draft_.nbytes() == 0;
  const int32_t typesize = draft_.header.typesize;
  if (header.nbytes == 0) return InvalidArgument("an empty chunk cannot stand in a frame");
  if (header.typesize != (typesize > 255 ? 1 : typesize)) {
    return InvalidArgument("chunk of typesize %d in a frame of typesize %d", header.typesize,
                           typesize);
  }
  if (!empty && header.vlblocks != draft_.header.vlblocks) {
    return FailedPrecondition("chunks with and without variable blocks do not mix in a frame");
  }
  CAIRN_RETURN_IF_ERROR(CheckRoom(header.nbytes));
  if (draft_.header.chunksize > 0) {
    if (header.nbytes > draft_.header.chunksize) {
      return InvalidArgument("chunk of %d bytes in a frame of chunks of %d", header.nbytes,
                             draft_.header.chunksize);
    }
    if (draft_.nbytes() % draft_.header.chunksize != 0) {
      return FailedPrecondition("the last chunk is shorter than %d bytes: no chunk can follow",
                                draft_.header.chunksize);
    }
  }
  CAIRN_ASSIGN_OR_RETURN(const ForeignChunk foreign, PrepareForeign(chunk, header));
  CAIRN_RETURN_IF_ERROR(GetEncoder().status());
  FixChunksize(header.nbytes);
  draft_.header.vlblocks = header.vlblocks;
  return Remember(StageForeign(foreign));
}

absl::Status Stager::StageOneSpecial(SpecialValue special, int64_t nbytes, Bytes value) {
  if (IsIndexSpecial(special) && fixed_chunks()) {
    draft_.AddChunk({.value = format::EntryOfSpecial(special)}, nbytes, 0);
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const chunk::Encoder* encoder, GetEncoder());
  // The index of a frame of variable chunks cannot hold values: there they are repeated items.
  std::vector<std::byte> item = ToVector(value);
  if (special != SpecialValue::kRepeat) {
    item.resize(static_cast<size_t>(draft_.header.typesize));
    CAIRN_RETURN_IF_ERROR(chunk::FillSpecial(
        {.kind = special, .typesize = draft_.header.typesize, .value = {}}, 0, item));
  }
  CAIRN_ASSIGN_OR_RETURN(
      const std::vector<std::byte> chunk,
      encoder->EncodeSpecial(SpecialValue::kRepeat, static_cast<int32_t>(nbytes), item));
  return StageChunk(chunk, nbytes);
}

absl::Status Stager::StageAsItems(SpecialValue special, int64_t nbytes, Bytes value) {
  constexpr int64_t kPieceSize = 1 << 20;
  for (int64_t done = 0; done < nbytes; done += kPieceSize) {
    std::vector<std::byte> items(static_cast<size_t>(std::min(kPieceSize, nbytes - done)));
    CAIRN_RETURN_IF_ERROR(chunk::FillSpecial(
        {.kind = special, .typesize = draft_.header.typesize, .value = value}, done, items));
    CAIRN_RETURN_IF_ERROR(StageFixed(items));
  }
  return absl::OkStatus();
}

absl::Status Stager::StageSpecial(SpecialValue special, int64_t nbytes, Bytes value) {
  if (!fixed_chunks()) return StageOneSpecial(special, nbytes, value);
  if (draft_.header.chunksize % draft_.header.typesize != 0) {
    return StageAsItems(special, nbytes, value);
  }
  const int64_t chunksize = draft_.header.chunksize;
  if (!draft_.tail.empty()) {
    const auto filled = static_cast<int64_t>(draft_.tail.size());
    std::vector<std::byte> items(static_cast<size_t>(std::min(nbytes, chunksize - filled)));
    CAIRN_RETURN_IF_ERROR(chunk::FillSpecial(
        {.kind = special, .typesize = draft_.header.typesize, .value = value}, 0, items));
    CAIRN_RETURN_IF_ERROR(StageFixed(items));
    nbytes -= static_cast<int64_t>(items.size());
  }
  for (; nbytes >= chunksize; nbytes -= chunksize) {
    CAIRN_RETURN_IF_ERROR(StageOneSpecial(special, chunksize, value));
  }
  if (nbytes == 0) return absl::OkStatus();
  // A short stored chunk would be dead as soon as more items follow it.
  return IsIndexSpecial(special) ? StageOneSpecial(special, nbytes, value)
                                 : StageAsItems(special, nbytes, value);
}

absl::Status Stager::AppendSpecial(SpecialValue special, int64_t nitems, Bytes value) {
  const int64_t typesize = draft_.header.typesize;
  const std::optional<int64_t> nbytes = CheckedMul(nitems, typesize);
  if (nitems < 0 || !nbytes.has_value()) return InvalidArgument("%d items", nitems);
  const bool repeat = special == SpecialValue::kRepeat;
  if (special == SpecialValue::kNone ||
      static_cast<int64_t>(value.size()) != (repeat ? typesize : 0)) {
    return InvalidArgument("special value %d takes a value of %d bytes, got %d",
                           static_cast<int>(special), repeat ? typesize : 0, value.size());
  }
  if (special == SpecialValue::kNans && typesize != 4 && typesize != 8) {
    return InvalidArgument("NaNs need a typesize of 4 or 8, got %d", typesize);
  }
  if (draft_.header.vlblocks && draft_.nbytes() > 0) {
    return FailedPrecondition("a frame of variable blocks takes whole chunks only");
  }
  if (!fixed_chunks() && *nbytes > kMaxChunkBytes) {
    return InvalidArgument("a chunk has at most %d bytes, got %d", kMaxChunkBytes, *nbytes);
  }
  if (draft_.nbytes() % typesize != 0) {
    return FailedPrecondition("the last item is not whole: no special values can follow");
  }
  CAIRN_RETURN_IF_ERROR(CheckRoom(*nbytes));
  CAIRN_RETURN_IF_ERROR(GetEncoder().status());
  if (nitems == 0) return absl::OkStatus();
  FixChunksize(options_.chunksize);
  if (fixed_chunks()) CAIRN_RETURN_IF_ERROR(ReopenShortChunk());
  draft_.header.vlblocks = false;
  return Remember(StageSpecial(special, *nbytes, value));
}

absl::Status Stager::SetMetalayer(std::string_view name, Bytes content) {
  const auto it = std::ranges::find(draft_.header.metalayers, name, &Metalayer::name);
  if (it == draft_.header.metalayers.end()) {
    return absl::NotFoundError(absl::StrFormat("metalayer %s", name));
  }
  if (it->content.size() != content.size()) {
    return InvalidArgument("metalayer %s keeps its size of %d bytes, got %d", name,
                           it->content.size(), content.size());
  }
  it->content = ToVector(content);
  draft_.edited = true;
  draft_.metalayers_edited = true;
  return absl::OkStatus();
}

absl::Status Stager::SetVlmeta(std::string_view name, Bytes content) {
  CAIRN_RETURN_IF_ERROR(format::CheckLayerName(name));
  if (IsReservedLayer(name)) return InvalidArgument("vlmetalayer %s is Cairn's own", name);
  const auto it = std::ranges::find(draft_.vlmetalayers, name, &VlLayer::name);
  const bool found = it != draft_.vlmetalayers.end();
  if (!found && draft_.vlmetalayers.size() + 2 >= kMaxVlMetalayers) {
    return ResourceExhausted("frame: more than %d vlmetalayers", kMaxVlMetalayers - 2);
  }
  CAIRN_ASSIGN_OR_RETURN(VlLayer layer, EncodeVlLayer(*base_->env, name, content));
  int64_t total = static_cast<int64_t>(layer.chunk.bytes().size());
  for (const VlLayer& other : draft_.vlmetalayers) {
    if (other.name != name) total += static_cast<int64_t>(other.chunk.bytes().size());
  }
  if (total > kMaxVlBytes) {
    return ResourceExhausted("vlmetalayers: %d bytes in all, at most %d", total, kMaxVlBytes);
  }
  if (found) {
    *it = std::move(layer);
  } else {
    draft_.vlmetalayers.push_back(std::move(layer));
  }
  draft_.edited = true;
  return absl::OkStatus();
}

absl::Status Stager::DeleteVlmeta(std::string_view name) {
  const auto it = std::ranges::find(draft_.vlmetalayers, name, &VlLayer::name);
  if (it == draft_.vlmetalayers.end()) {
    return absl::NotFoundError(absl::StrFormat("vlmetalayer %s", name));
  }
  draft_.vlmetalayers.erase(it);
  draft_.edited = true;
  return absl::OkStatus();
}

absl::Status Stager::Finish() {
  if (!draft_.tail.empty()) {
    const std::vector<std::byte> items = std::exchange(draft_.tail, {});
    CAIRN_RETURN_IF_ERROR(Remember(EncodeChunk(items)));
  }
  return Remember(log_.Flush());
}

absl::StatusOr<std::shared_ptr<const State>> Stager::View() {
  CAIRN_RETURN_IF_ERROR(Remember(log_.Flush()));
  auto state = std::make_shared<State>(*base_);
  state->header = draft_.header;
  state->header.nbytes = draft_.nbytes();
  if (draft_.metalayers_edited) state->array = ArrayOf(state->header);
  state->chunks = draft_.chunks;
  state->tail = std::make_shared<const std::vector<std::byte>>(draft_.tail);
  state->vlmetalayers = draft_.vlmetalayers;
  // Staged chunks lie behind the base's index and trailer.
  state->chunks_end = std::max(base_->chunks_end, log_.end());
  CAIRN_ASSIGN_OR_RETURN(state->region, source_.View(state->chunks_end));
  state->index = {};
  state->info = MakeInfo(*state);
  state->info.fingerprint = base_->info.fingerprint;
  if (draft_.stored_bytes.has_value()) {
    state->info.cbytes = *draft_.stored_bytes;
    state->info.dead_bytes = state->chunks_end - state->header.header_len - state->info.cbytes;
  }
  return state;
}

}  // namespace cairn::frame
