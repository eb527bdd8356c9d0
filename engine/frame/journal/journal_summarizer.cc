#include "engine/frame/journal/journal_summarizer.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/format/journal_summary.h"
#include "engine/frame/replay/summary.h"

namespace cairn::frame {

namespace {

// The most bytes of pending items and of layers in a summary, which holds a copy of them. While
// there are more, the summary waits for the next commit.
constexpr int64_t kMostItems = int64_t{256} << 10;
constexpr int64_t kMostLayers = int64_t{64} << 10;
// The most pieces and entries that the commit which writes a summary reads. There are more only if
// no summary was written for a long time.
constexpr int64_t kMostNewPieces = int64_t{1} << 17;
constexpr size_t kMostNewEntries = size_t{1} << 19;

// All metalayers and vlmetalayers of the state; nothing where they take much.
std::optional<std::vector<format::LayerEdit>> LayersOf(const Metadata& metadata) {
  using Kind = format::LayerEdit::Kind;
  std::vector<format::LayerEdit> layers;
  int64_t size = 0;
  const auto add = [&](Kind kind, const std::string& name, Bytes content) {
    size += std::ssize(name) + std::ssize(content);
    if (size <= kMostLayers) layers.push_back({kind, name, ToVector(content)});
  };
  for (const Metalayer& layer : metadata.metalayers) {
    add(Kind::kSetMetalayer, layer.name, layer.content);
  }
  for (const VlMetalayer& layer : metadata.vlmetalayers) {
    add(Kind::kSetVlmeta, layer.name, layer.chunk.bytes());
  }
  return size <= kMostLayers ? std::optional(std::move(layers)) : std::nullopt;
}

// Returns the index of the chunks that consist of these pieces, with one more table.
std::shared_ptr<const SummarizedIndex> WithTable(const ChunkIndex& chunks,
                                                 std::vector<format::IndexPiece> pieces,
                                                 SummarizedIndex::Table table) {
  std::vector<SummarizedIndex::Table> tables;
  if (chunks.summary() != nullptr) tables = chunks.summary()->tables();
  tables.push_back(std::move(table));
  return std::make_shared<const SummarizedIndex>(std::move(pieces), std::move(tables),
                                                 chunks.size());
}

struct SummaryBytes {
  Extent extent;
  std::vector<std::byte> bytes;
  std::shared_ptr<const SummarizedIndex> index;
};

// Returns the summary of a state whose journal ends at `position`, where the summary begins.
// Returns nothing if it would be large.
std::optional<SummaryBytes> SummaryOf(const State& state, int64_t position, uint64_t identity) {
  const std::optional<std::vector<format::LayerEdit>> layers = LayersOf(*state.metadata);
  if (!layers.has_value() || state.chunks.new_pieces() > kMostNewPieces) return std::nullopt;
  ChunkIndex::Flat flat = state.chunks.Flatten();
  if (flat.entries.size() > kMostNewEntries) return std::nullopt;
  const JournalPosition& journal = *state.journal;
  const format::EncodedEdits no_edits;
  const format::CommitRecordParts commit{
      .links = {.base = identity,
                .generation = journal.generation,
                .previous = journal.last,
                .durable_end = journal.durable_end},
      .totals = format::CommitTotals{.nchunks = state.chunks.size(),
                                     .nbytes = state.nbytes,
                                     .stored_bytes = state.stored_bytes.value_or(-1),
                                     .chunksize = state.chunksize,
                                     .vlblocks = state.vlblocks},
      .chunks = no_edits,
      .layers = *layers,
      .partial_replaced = true,
      .partial_head = state.partial.head,
      .partial_padded = state.partial.is_padded(),
      .partial_items = state.partial.items.span()};
  format::JournalSummary summary;
  summary.edits = journal.edits;
  summary.reused = journal.reused;
  summary.pieces = std::move(flat.pieces);
  if (state.chunks.summary() != nullptr) {
    for (const auto& table : state.chunks.summary()->tables()) {
      summary.tables.push_back(table.place);
    }
  }
  const auto entries =
      std::make_shared<const std::vector<std::byte>>(format::EncodeEntries(flat.entries));
  SummaryBytes made;
  made.bytes = format::EncodeSummary(summary, commit, *entries, position, identity);
  made.extent = {position, position + std::ssize(made.bytes)};
  made.index = WithTable(state.chunks, std::move(summary.pieces),
                         {.place = summary.tables.back(), .entries = Chunk(*entries, entries)});
  return made;
}

// Encodes the new entries alone, for a later summary of the state or of one that follows it.
// Returns nothing if there are none, or too many.
std::optional<SummaryBytes> TableOf(const State& state, int64_t position) {
  if (state.chunks.new_pieces() > kMostNewPieces) return std::nullopt;
  ChunkIndex::Flat flat = state.chunks.Flatten();
  if (flat.entries.empty() || flat.entries.size() > kMostNewEntries) return std::nullopt;
  const auto entries =
      std::make_shared<const std::vector<std::byte>>(format::EncodeEntries(flat.entries));
  SummaryBytes made;
  made.bytes = chunk::MemcpyedHeader(static_cast<int32_t>(entries->size()));
  made.bytes.insert(made.bytes.end(), entries->begin(), entries->end());
  made.extent = {position, position + std::ssize(made.bytes)};
  made.index = WithTable(state.chunks, std::move(flat.pieces),
                         {.place = {.position = position + chunk::kHeaderSize,
                                    .entries = std::ssize(flat.entries),
                                    .hash = Xxh3(*entries)},
                          .entries = Chunk(*entries, entries)});
  return made;
}

}  // namespace

// Writes a slot of the anchor. If the disk is too full, readers replay more.
absl::Status JournalSummarizer::WriteSlot(const AnchorPlace& anchor, int64_t number,
                                          const format::SummarySlot& slot) const {
  const absl::Status status =
      frame_.file->WriteAt(anchor.slot(number), format::EncodeSlot(slot, anchor.identity));
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

// Writes the slot of the newest summary, unless the boot is not known.
absl::Status JournalSummarizer::WriteSlot(const AnchorPlace& anchor, const Extent& summary,
                                          SummaryProgress& progress) const {
  format::SummarySlot slot = {.position = summary.begin,
                              .size = summary.size(),
                              .generation = base().generation(),
                              .last = base().journal->last};
  // A summary that waits for a sync keeps its place, or newer ones would replace it again and
  // again.
  if (!progress.unmarked.has_value()) progress.unmarked = slot;
  slot.boot = frame_.source.BootHere(base().env()->boot);
  return slot.boot != 0 ? WriteSlot(anchor, 0, slot) : absl::OkStatus();
}

// Writes the slot of the newest durable summary, when a later commit is durable: its sync began
// after the summary was written.
absl::Status JournalSummarizer::MarkSummary(const AnchorPlace& anchor, SummaryProgress& progress) {
  if (frame_.sync->durable().generation <= progress.unmarked->generation) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(WriteSlot(anchor, 1, *progress.unmarked));
  progress.unmarked.reset();
  return absl::OkStatus();
}

// Empties all slots, because the next commits have the generations of those in the summary.
absl::Status JournalSummarizer::VoidSummaries() {
  for (int64_t number = 0; number < format::kSlots; ++number) {
    CAIRN_RETURN_IF_ERROR(WriteSlot(AnchorOf(base()), number, {}));
  }
  is_void_ = false;
  return absl::OkStatus();
}

// Returns true if enough edits have come since the last summary. If it cannot be written, the next
// one is due after as many edits.
bool JournalSummarizer::IsSummaryDue(int64_t edits, SummaryProgress& progress) const {
  const State& state = base();
  const CheckpointPolicy& policy = state.env()->checkpoints;
  const bool is_due = edits - progress.edits >= policy.edits_of_summary &&
                      state.chunks.size() >= policy.least_summarized &&
                      static_cast<int64_t>(state.partial.items.size()) <= kMostItems &&
                      frame_.limit.bytes == INT64_MAX;
  if (is_due) progress.edits = edits;
  return is_due;
}

// Writes the summary after the last commit, with a receipt, so that no writer which opens the frame
// cuts it, whichever checkpoint it knows. The receipt may be on the disk without the summary, so it
// does not say what is durable. If `index` is not null, the committed state continues from it.
// Returns false if there is no room.
absl::StatusOr<bool> JournalSummarizer::WriteSummary(
    std::vector<std::byte> summary, const Stager& stager,
    const std::shared_ptr<const SummarizedIndex>& index) {
  const int64_t begin = tail_.end();
  const format::Receipt receipt{.base = base().journal->base,
                                .generation = base().generation(),
                                .boot = frame_.source.BootHere(base().env()->boot)};
  format::AppendReceipt(receipt, begin + std::ssize(summary), summary);
  if (!tail_.HasRoomFor(std::ssize(summary) + format::kReceiptSize)) return false;
  // A summary must not use the space that is reserved for deleting on a full disk.
  tail_.StageAt(begin + std::ssize(summary));
  if (!headroom_.Reserve(stager).ok()) {
    tail_.StageAt(begin);
    return false;
  }
  const absl::Status written = frame_.file->WriteAt(begin, summary);
  if (absl::IsResourceExhausted(written)) {
    tail_.StageAt(begin);
    CAIRN_RETURN_IF_ERROR(remains_.DropAfter(begin));
    return false;
  }
  CAIRN_RETURN_IF_ERROR(written);
  CAIRN_RETURN_IF_ERROR(remains_.MarkEndIfNeeded(tail_.end()));
  const auto state = std::make_shared<State>(base());
  if (index != nullptr) state->chunks = ChunkIndex(base().chunks, index);
  Extend(receipt, tail_.end(), *state->journal);
  CAIRN_ASSIGN_OR_RETURN(state->region, frame_.source.ViewMore(state->region, tail_.end()));
  frame_.InstallState(state);
  return true;
}

absl::Status JournalSummarizer::SumUp(const Stager& stager) {
  if (progress_.unmarked.has_value()) {
    CAIRN_RETURN_IF_ERROR(MarkSummary(AnchorOf(base()), progress_));
  }
  if (!IsSummaryDue(base().journal->edits, progress_)) return absl::OkStatus();
  const AnchorPlace anchor = AnchorOf(base());
  if (!HasAnchor(frame_.source, anchor)) return absl::OkStatus();
  std::optional<SummaryBytes> summary = SummaryOf(base(), tail_.end(), anchor.identity);
  if (!summary.has_value()) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const bool written,
                         WriteSummary(std::move(summary->bytes), stager, summary->index));
  return written ? WriteSlot(anchor, summary->extent, progress_) : absl::OkStatus();
}

// Writes tables until the anchor of the next checkpoint, with its identity and slots, is written.
// So the first summary need not go through all edits.
absl::StatusOr<bool> JournalSummarizer::SumUpFor(BackgroundCheckpoint& next, const Stager& stager) {
  SummaryProgress& progress = next.summaries();
  const std::optional<AnchorPlace> anchor = next.anchor();
  if (progress.unmarked.has_value()) CAIRN_RETURN_IF_ERROR(MarkSummary(*anchor, progress));
  if (!IsSummaryDue(next.edits_since(), progress)) return false;
  const State since = next.StateSince();
  if (next.is_shrinking()) {
    OwnJournal& journal = next.journal();
    std::optional<SummaryBytes> table = TableOf(since, journal.position().end);
    if (!table.has_value()) return false;
    CAIRN_ASSIGN_OR_RETURN(const bool written, journal.AddChunk(std::move(table->bytes)));
    if (written) next.SetSummary(table->index);
    return written;
  }
  std::optional<SummaryBytes> summary = anchor.has_value()
                                            ? SummaryOf(since, tail_.end(), anchor->identity)
                                            : TableOf(since, tail_.end());
  if (!summary.has_value()) return false;
  CAIRN_ASSIGN_OR_RETURN(const bool written,
                         WriteSummary(std::move(summary->bytes), stager, nullptr));
  if (!written) return false;
  next.SetSummary(summary->index);
  if (anchor.has_value()) CAIRN_RETURN_IF_ERROR(WriteSlot(*anchor, summary->extent, progress));
  return true;
}

}  // namespace cairn::frame
