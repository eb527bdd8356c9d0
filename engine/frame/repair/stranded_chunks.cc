#include "engine/frame/repair/stranded_chunks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/format/b2nd.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/read/chunk_reader.h"

namespace cairn::frame {

namespace {

// Adds to a state the chunks behind its journal. Not thread-safe.
class StrandedChunks {
 public:
  // `newer` is the header of a checkpoint whose index is lost, or null.
  StrandedChunks(const State& state, const format::FrameHeader* newer, FrameView file,
                 const ChunkDetector& detector, ScanResult behind)
      : state_(std::make_shared<State>(state)),
        newer_(newer),
        file_(std::move(file)),
        detector_(detector),
        behind_(std::move(behind)) {}

  absl::StatusOr<KnownState> Run() &&;

 private:
  void LoseCause();
  absl::StatusOr<bool> WereAppended();
  bool FitNewer(int64_t kept) const;
  bool HaveThatKind() const;
  int32_t LastNbytes() const;
  // Return the items of an array, or the bytes of any other frame.
  int64_t Length() const;
  int64_t NewLength() const;
  absl::StatusOr<std::vector<std::byte>> ReadTail() const;
  absl::StatusOr<bool> BeginsWith(const FoundChunk& chunk, Bytes items) const;
  void AppendChunks();
  absl::StatusOr<bool> ReopenLast();
  absl::Status AppendPending();
  void LosePending();
  void FitShape();
  void LoseChunks();
  // Reports that bytes of the frame are lost.
  void Lose(Extent bytes, std::string reason) {
    const int64_t origin = state_->checkpoint->source.origin();
    known_.lost.push_back(
        {.begin = origin + bytes.begin, .end = origin + bytes.end, .reason = std::move(reason)});
  }

  const std::shared_ptr<State> state_;
  const format::FrameHeader* const newer_;
  const FrameView file_;
  const ChunkDetector& detector_;
  ScanResult behind_;
  bool replaces_last_ = false;  // the first found chunk holds the items of the last stored one
  KnownState known_;
};

// Returns the size of the last chunk, which is short in a newer checkpoint that is not an array.
int32_t StrandedChunks::LastNbytes() const {
  if (newer_ == nullptr || state_->variable_chunks()) return state_->chunksize;
  const int64_t rest = newer_->nbytes % state_->chunksize;
  return rest == 0 ? state_->chunksize : static_cast<int32_t>(rest);
}

bool StrandedChunks::HaveThatKind() const {
  const int32_t typesize = chunk::HeaderTypesize(state_->header().typesize);
  return std::ranges::all_of(behind_.chunks, [&](const FoundChunk& chunk) {
    const bool is_last = &chunk == &behind_.chunks.back();
    return chunk.header.typesize == typesize && chunk.header.vlblocks == state_->vlblocks &&
           (state_->variable_chunks() || chunk.header.nbytes == state_->chunksize ||
            (is_last && chunk.header.nbytes == LastNbytes()));
  });
}

int64_t StrandedChunks::Length() const {
  const std::optional<ArrayInfo>& array = state_->metadata->array;
  return array.has_value() ? array->shape[0] : state_->nbytes;
}

int64_t StrandedChunks::NewLength() const {
  const auto array = format::FindB2nd(newer_->metalayers);
  return array.ok() ? array->shape[0] : newer_->nbytes;
}

// Returns true if the found chunks follow `kept` ones of the state in the newer checkpoint. There
// are as many as it needs then, back to back up to its index. If any is cut off, the others may
// have been written in another order.
bool StrandedChunks::FitNewer(int64_t kept) const {
  const State& state = *state_;
  if (state.chunksize <= 0 || newer_->chunksize != state.chunksize) return false;
  const auto array = format::FindB2nd(newer_->metalayers);
  const bool same_array = state.metadata->array.has_value()
                              ? array.ok() && array->chunkshape == state.metadata->array->chunkshape
                              : !array.ok();
  const auto are_apart = [](const FoundChunk& a, const FoundChunk& b) {
    return a.end() != b.begin;
  };
  const std::vector<FoundChunk>& found = behind_.chunks;
  return same_array &&
         kept + std::ssize(found) == CeilDiv<int64_t>(newer_->nbytes, state.chunksize) &&
         std::ranges::adjacent_find(found, are_apart) == found.end() &&
         found.back().end() == newer_->index_begin();
}

// Returns the items of a last chunk that more can follow: pending ones, or those of a short chunk.
absl::StatusOr<std::vector<std::byte>> StrandedChunks::ReadTail() const {
  const State& state = *state_;
  if (state.variable_chunks() || state.chunksize <= 0) return std::vector<std::byte>();
  const bool is_line = state.metadata->array.has_value();
  const int64_t nbytes =
      is_line ? CountItems(state) * state.header().typesize : state.nbytes;  // without padding
  int64_t filled = nbytes % state.chunksize;
  if (!state.partial.empty()) filled = state.partial.filled();
  if (filled == 0) return std::vector<std::byte>();
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> items,
                         ReadWholeChunk(state, CountChunks(state) - 1, VerifyPolicy::kAlways));
  items.resize(static_cast<size_t>(std::min<int64_t>(filled, std::ssize(items))));
  return items;
}

absl::StatusOr<bool> StrandedChunks::BeginsWith(const FoundChunk& chunk, Bytes items) const {
  ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(const Bytes stored, file_.Read(chunk.begin, chunk.header.cbytes, scratch));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> decoded,
                         detector_.Decode(stored, std::ssize(items)));
  return std::ranges::equal(decoded, items);
}

absl::StatusOr<bool> StrandedChunks::WereAppended() {
  const bool is_line = !state_->metadata->array.has_value() || LiesInOrder(*state_);
  if (!is_line || behind_.changes_chunks || !HaveThatKind()) return false;
  if (behind_.chunks.empty()) return true;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> tail, ReadTail());
  if (!tail.empty()) {
    CAIRN_ASSIGN_OR_RETURN(const bool fits, BeginsWith(behind_.chunks.front(), tail));
    if (!fits) return false;
    replaces_last_ = state_->partial.empty();
  }
  // Appended chunks that can no longer be found only make the number larger.
  const int64_t kept = state_->chunks.size() - (replaces_last_ ? 1 : 0);
  if (newer_ != nullptr) {
    if (!FitNewer(kept)) return false;
    // The chunk may only be what the checkpoint made of the pending items.
    if (!state_->partial.empty() && behind_.chunks.size() == 1 && NewLength() == Length()) {
      behind_.chunks.clear();
      return true;
    }
  }
  if (behind_.nchunks.has_value()) {
    return behind_.first_insert >= kept && *behind_.nchunks >= kept + std::ssize(behind_.chunks);
  }
  // Nothing tells what the damaged commits did, except what those before them did.
  const CommittedIndex* const base = state_->chunks.base();
  return !tail.empty() || base == nullptr || state_->chunks.unchanged() == base->size();
}

void StrandedChunks::AppendChunks() {
  if (behind_.chunks.empty()) return;
  state_->nbytes -= state_->partial.nbytes();
  state_->partial = {};
  if (replaces_last_) {
    const int64_t last = state_->chunks.size() - 1;
    state_->chunks.Erase(last, 1);
    state_->nbytes = last * state_->chunksize;
  }
  for (const FoundChunk& chunk : behind_.chunks) {
    state_->chunks.Append(
        {.value = chunk.begin - state_->header().header_len, .cbytes = chunk.header.cbytes});
    state_->nbytes += chunk.header.nbytes;
  }
}

// Reopens the chunk that the items of intact records continue, if it is in the index. Its first
// bytes are pending again.
absl::StatusOr<bool> StrandedChunks::ReopenLast() {
  State& state = *state_;
  const int64_t last = state.chunks.size() - 1;
  if (!behind_.chunks.empty() || !state.partial.empty() || last < 0) return true;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> tail, ReadTail());
  if (tail.empty()) return true;
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, state.chunks.Get(last));
  const std::optional<format::IndexedChunk>& head = behind_.pending_head;
  const bool is_head =
      head.has_value() && head->entry.value == entry.value && head->nbytes == std::ssize(tail);
  if (behind_.replaces_pending && !is_head) return false;
  CAIRN_ASSIGN_OR_RETURN(const int32_t nbytes, ChunkNbytes(state, last));
  state.chunks.Erase(last, 1);
  state.partial.head = {.entry = entry, .nbytes = static_cast<int32_t>(tail.size())};
  if (std::ssize(tail) < nbytes) state.partial.padded_to = nbytes;
  behind_.replaces_pending = false;
  return true;
}

// Takes the items of intact records. The items of a damaged record are missing before them.
absl::Status StrandedChunks::AppendPending() {
  if (behind_.pending.empty()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const bool follow, ReopenLast());
  PartialChunk& partial = state_->partial;
  const bool replace = behind_.replaces_pending && behind_.chunks.empty();
  if (!follow || (replace && !partial.empty()) ||
      partial.filled() + std::ssize(behind_.pending) > state_->chunksize) {
    LosePending();
    return absl::OkStatus();
  }
  state_->nbytes -= partial.nbytes();
  if (partial.empty() && state_->metadata->array.has_value()) {
    partial.padded_to = state_->chunksize;
  }
  partial.items.Append(behind_.pending);
  state_->nbytes += partial.nbytes();
  known_.is_pending_proven = false;
  return absl::OkStatus();
}

void StrandedChunks::LosePending() {
  if (behind_.pending.empty()) return;
  known_.places_all = false;
  Lose(behind_.pending_record,
       absl::StrFormat("journal: where its %d bytes of items belong is not known",
                       behind_.pending.size()));
}

void StrandedChunks::LoseChunks() {
  known_.places_all = known_.places_all && behind_.chunks.empty();
  for (const FoundChunk& chunk : behind_.chunks) {
    Lose({chunk.begin, chunk.end()},
         "a chunk behind the last intact commit: where it belongs is not known");
  }
}

// Makes an array of one dimension as long as its chunks, without their padding.
void StrandedChunks::FitShape() {
  const int64_t items = ItemsOfChunk(*state_->metadata);
  if (items == 0 || behind_.chunks.empty()) return;
  auto metadata = std::make_shared<Metadata>(*state_->metadata);
  int64_t length = state_->chunks.size() * items;
  if (newer_ != nullptr) length = std::min(length, NewLength());
  SetLength(length, *metadata);
  state_->metadata = std::move(metadata);
}

void StrandedChunks::LoseCause() {
  if (newer_ == nullptr) {
    Lose(state_->damage->bytes, std::string(state_->JournalStatus().message()));
    return;
  }
  // The size may be damaged, and must fit into sums.
  const int64_t end = std::min(newer_->frame_size, INT64_MAX / 2);
  const int64_t begin = std::min(newer_->index_begin().value_or(end), file_.size());
  Lose(
      {begin, std::max(begin, end)},
      absl::StrFormat("index: that of the newest checkpoint is damaged or missing: the header says "
                      "that it ends at byte %d, the file has %d: commits after generation %d are "
                      "lost, except for chunks that were appended",
                      end, file_.size(), state_->generation()));
  for (const LostBytes& lost : behind_.lost) {
    if (lost.end <= begin && lost.reason != "zeros") known_.lost.push_back(lost);
  }
}

absl::StatusOr<KnownState> StrandedChunks::Run() && {
  LoseCause();
  // From here on the state hides nothing.
  state_->damage.reset();
  const absl::StatusOr<bool> appended = WereAppended();
  if (appended.ok() && *appended) {
    AppendChunks();
    FitShape();
    if (state_->variable_chunks()) {
      LosePending();
    } else {
      CAIRN_RETURN_IF_ERROR(AppendPending());
    }
    state_->metadata = MetadataWith(state_->metadata, state_->chunks.size(), state_->partial,
                                    state_->header().typesize);
    state_->stored_bytes.reset();
    SetRegion(file_, *state_);
  } else {
    LoseChunks();
    LosePending();
  }
  known_.state = state_;
  known_.misses_commits = true;
  return std::move(known_);
}

}  // namespace

namespace {

absl::StatusOr<KnownState> AddBehind(const StatePtr& state, const format::FrameHeader* newer,
                                     ChunkDetector& detector,
                                     absl::FunctionRef<bool(int64_t)> progress) {
  const FrameFile& source = state->checkpoint->source;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  CAIRN_ASSIGN_OR_RETURN(FrameView view, source.View(size));
  ChunkScanner scanner(view, detector, {});
  const auto tell = [&](int64_t at) { return progress(source.origin() + at); };
  CAIRN_ASSIGN_OR_RETURN(ScanResult behind, scanner.Run(CommittedEnd(*state), tell));
  return StrandedChunks(*state, newer, std::move(view), detector, std::move(behind)).Run();
}

}  // namespace

absl::StatusOr<KnownState> AddStranded(StatePtr state, ChunkDetector& detector,
                                       absl::FunctionRef<bool(int64_t)> progress) {
  return AddBehind(state, nullptr, detector, progress);
}

absl::StatusOr<KnownState> AddStranded(StatePtr state, const format::FrameHeader& newer,
                                       ChunkDetector& detector,
                                       absl::FunctionRef<bool(int64_t)> progress) {
  return AddBehind(state, &newer, detector, progress);
}

}  // namespace cairn::frame
