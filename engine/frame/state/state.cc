#include "engine/frame/state/state.h"

#include <algorithm>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/b2nd.h"
#include "engine/format/recipe.h"

namespace cairn::frame {

namespace {

// Returns the bytes that hold the chunks, live and dead.
int64_t AreaOf(const State& state) {
  if (state.header().layout == Layout::kContiguous) {
    return state.chunks_end - state.header().header_len;
  }
  const int64_t journaled = state.journal.has_value() ? state.journal->reused : 0;
  return std::min(state.header().cbytes, INT64_MAX - journaled) + journaled;
}

// Returns the bytes that the stored chunks of a checkpoint take, if the frame tells.
std::optional<int64_t> StoredBytesOf(const State& state) {
  const int64_t area = AreaOf(state);
  const Checkpoint& checkpoint = *state.checkpoint;
  if (checkpoint.seal_holds && checkpoint.seal->dead_bytes <= area) {
    const int64_t dead = checkpoint.seal->dead_bytes;
    return dead < 0 ? std::nullopt : BelievedBytes(area - dead);
  }
  if (state.chunks.size() == 0) return 0;
  return state.header().layout == Layout::kSparse ? BelievedBytes(area) : std::nullopt;
}

// Returns the bytes between the chunks that are in use: a journal with chunks lies after the index
// and the trailer, and has the items that wait.
int64_t UsedBetween(const State& state) {
  if (state.header().layout != Layout::kContiguous) return 0;
  const Extent index = state.checkpoint->index;
  const Extent trailer = state.checkpoint->trailer;
  const int64_t checkpoint = state.chunks_end > index.begin ? index.size() + trailer.size() : 0;
  return checkpoint + static_cast<int64_t>(state.partial.items.size());
}

// Returns the dead bytes. The chunks of a packed super-chunk that hold no data are not dead.
std::optional<int64_t> DeadBytesOf(const State& state) {
  if (!state.stored_bytes.has_value()) return std::nullopt;
  if (state.checkpoint->era == Era::kPacked2015) return 0;
  return std::max<int64_t>(AreaOf(state) - *state.stored_bytes - UsedBetween(state), 0);
}

std::vector<Metalayer> MetalayersOf(Bytes header) {
  absl::StatusOr<format::FrameHeader> parsed = format::ParseFrameHeader(header);
  return parsed.ok() ? std::move(parsed->metalayers) : std::vector<Metalayer>();
}

FrameInfo MakeInfo(const State& state) {
  const format::FrameHeader& header = state.header();
  FrameInfo info;
  info.layout = header.layout;
  info.era = state.checkpoint->era;
  info.format_version = header.version;
  // A commit in the journal may have made chunks variable in a frame that was empty.
  const bool variable = state.variable_chunks() || state.vlblocks;
  if (state.journal.has_value() && variable) info.format_version = format::kFrameVersionVariable;
  info.generation = state.generation();
  info.nchunks = CountChunks(state);
  info.nitems = CountItems(state);
  info.recipe = state.metadata->recipe;
  info.nbytes = state.nbytes;
  info.cbytes = state.stored_bytes.value_or(AreaOf(state));
  info.dead_bytes = DeadBytesOf(state);
  info.frame_size = header.frame_size;
  info.header_len = header.header_len;
  info.typesize = header.typesize;
  info.variable_chunks = state.variable_chunks();
  if (state.chunksize > 0) info.chunksize = state.chunksize;
  if (header.blocksize > 0) info.blocksize = header.blocksize;
  info.codec = header.codec;
  info.codec_meta = header.codec_meta;
  info.clevel = header.clevel;
  info.split_mode = header.split_mode;
  info.use_dict = header.use_dict;
  info.vlblocks = state.vlblocks;
  std::ranges::copy_if(header.filters, std::back_inserter(info.filters),
                       [](const FilterStage& stage) { return stage.filter != Filter::kNone; });
  info.fingerprint = state.checkpoint->fingerprint;
  info.sealed = state.sealed();
  if (state.checkpoint->header_changed_outside) {
    info.changed_metalayers = UnprovenMetalayers(state);
  }
  info.trailer_damaged = !state.checkpoint->trailer_damage.ok();
  if (state.journal.has_value()) info.journal_size = state.journal->end - state.journal->begin;
  info.journal_damaged = state.damage.has_value();
  if (state.damage.has_value()) info.stranded_commits = state.damage->stranded;
  return info;
}

}  // namespace

uint64_t State::generation() const {
  if (journal.has_value()) return journal->generation;
  return checkpoint->seal.has_value() ? checkpoint->seal->generation : 0;
}

absl::Status State::JournalStatus() const {
  if (!damage.has_value()) return absl::OkStatus();
  if (damage->newer.has_value()) {
    return DataLoss(
        "frame header: older than the file: expected the one of generation %d, whose checkpoint "
        "ends at byte %d, got one whose commits end with generation %d: %d commits depend on it; "
        "Recover restores it and keeps them",
        damage->newer->generation, damage->newer->frame_size, damage->newer->last,
        damage->stranded);
  }
  return DataLoss(
      "journal: bytes %d to %d are damaged: %d commits after generation %d cannot be read",
      damage->bytes.begin, damage->bytes.end, damage->stranded, generation());
}

const FrameInfo& State::info() const {
  return info_.Get([this] { return MakeInfo(*this); });
}

StateBuilder::StateBuilder(std::shared_ptr<const FrameContext> env, Era era)
    : checkpoint(std::make_shared<Checkpoint>()),
      metadata(std::make_shared<Metadata>()),
      state(std::make_shared<State>()) {
  checkpoint->id = ++env->last_checkpoint_id;
  checkpoint->env = std::move(env);
  checkpoint->era = era;
  state->checkpoint = checkpoint;
  state->metadata = metadata;
}

void StateBuilder::SetHeader(format::FrameHeader header, std::vector<std::byte> bytes) {
  metadata->metalayers = std::exchange(header.metalayers, {});
  DescribeData(*metadata);
  state->nbytes = header.nbytes;
  state->chunksize = header.chunksize;
  state->vlblocks = header.vlblocks;
  checkpoint->header = std::move(header);
  checkpoint->header_bytes = std::move(bytes);
}

StatePtr StateBuilder::Finish() && {
  if (!state->stored_bytes.has_value()) state->stored_bytes = StoredBytesOf(*state);
  return std::move(state);
}

int64_t CountItems(const State& state) {
  const int64_t stored = state.nbytes / state.header().typesize;
  if (!state.metadata->array.has_value()) return stored;
  int64_t items = 1;
  for (const int64_t extent : state.metadata->array->shape) {
    // An array that claims more than its chunks hold cannot be read.
    const std::optional<int64_t> product = CheckedMul(items, extent);
    if (!product.has_value()) return stored;
    items = *product;
  }
  return std::min(items, stored);
}

int64_t CountChunks(const State& state) {
  return state.chunks.size() + (state.partial.empty() ? 0 : 1);
}

absl::Status CheckChunkNumber(const State& state, int64_t nchunk) {
  if (nchunk >= 0 && nchunk < CountChunks(state)) return absl::OkStatus();
  return OutOfRange("chunk %d of %d", nchunk, CountChunks(state));
}

bool IsPartialChunk(const State& state, int64_t nchunk) { return nchunk == state.chunks.size(); }

int64_t CommittedEnd(const State& state) {
  return state.journal.has_value() ? state.journal->end : state.header().frame_size;
}

void SetRegion(FrameView region, State& state) {
  state.region = std::move(region);
  if (state.header().layout == Layout::kSparse) return;
  state.chunks_end = state.region.size();
  SetContiguousSource(state);
}

void SetContiguousSource(State& state) {
  state.chunk_source = std::make_shared<ContiguousChunkSource>(
      state.region, state.header().header_len, state.chunks_end);
}

format::FrameHeader CurrentHeader(const State& state) {
  format::FrameHeader header = state.header();
  header.nbytes = state.nbytes;
  header.chunksize = state.chunksize;
  header.vlblocks = state.vlblocks;
  return header;
}

int64_t ItemsOfChunk(const Metadata& metadata) {
  const bool is_line = metadata.array.has_value() && metadata.array->shape.size() == 1;
  return is_line ? metadata.array->chunkshape[0] : 0;
}

bool LiesInOrder(const State& state) {
  if (!state.metadata->array.has_value()) return true;
  const int64_t items = ItemsOfChunk(*state.metadata);
  if (items == 0 || items * state.header().typesize != state.chunksize) return false;
  const std::optional<int64_t> nbytes =
      CheckedMul(CeilDiv(state.metadata->array->shape[0], items), int64_t{state.chunksize});
  return nbytes == state.nbytes;
}

void SetLength(int64_t items, Metadata& metadata) {
  const int64_t shape[] = {items};
  const auto at = format::FindB2ndLayer(metadata.metalayers) - metadata.metalayers.data();
  std::vector<std::byte>& content = metadata.metalayers[static_cast<size_t>(at)].content;
  content = format::WithShape(content, shape);
  metadata.array->shape.assign(std::begin(shape), std::end(shape));
}

std::shared_ptr<const Metadata> MetadataWith(std::shared_ptr<const Metadata> metadata,
                                             int64_t nchunks, const PartialChunk& partial,
                                             int32_t typesize) {
  const int64_t items = ItemsOfChunk(*metadata);
  if (items == 0 || !partial.is_padded()) return metadata;
  auto edited = std::make_shared<Metadata>(*metadata);
  SetLength(nchunks * items + partial.filled() / typesize, *edited);
  return edited;
}

std::vector<Metalayer> SealedMetalayers(const Checkpoint& checkpoint) {
  if (!checkpoint.seal_holds) return {};
  return MetalayersOf(checkpoint.seal->header_copy);
}

std::vector<std::string> UnprovenMetalayers(const State& state) {
  const std::vector<Metalayer> sealed = SealedMetalayers(*state.checkpoint);
  const auto is_sealed = [&](const Metalayer& layer) {
    return std::ranges::find(sealed, layer) != sealed.end();
  };
  // A commit may have changed a part of the header, such as the shape of an array.
  std::vector<Metalayer> doubtful = MetalayersOf(state.checkpoint->header_bytes);
  std::erase_if(doubtful, is_sealed);
  std::vector<std::string> names;
  for (const Metalayer& layer : state.metadata->metalayers) {
    const bool is_doubtful = std::ranges::count(doubtful, layer.name, &Metalayer::name) > 0;
    if (is_doubtful && !is_sealed(layer)) names.push_back(layer.name);
  }
  return names;
}

void DescribeData(Metadata& metadata) {
  absl::StatusOr<ArrayInfo> array = format::FindB2nd(metadata.metalayers);
  metadata.array = array.ok() ? std::optional(*std::move(array)) : std::nullopt;
  metadata.recipe = format::RecipeOf(metadata.metalayers);
}

absl::Status HoldsRecipe(const State& state) {
  return FailedPrecondition(
      "the frame holds a %s of python-blosc2 and not data: open it there with deserialize='full', "
      "and save what it computes",
      state.metadata->recipe);
}

}  // namespace cairn::frame
