// Sums up the journal, for readers that open the frame.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/journal_summary.h"
#include "engine/frame/commit/journal_writer.h"
#include "engine/frame/journal/summary.h"

namespace cairn::frame {

namespace {

// A summary holds these once more, so it waits for one commit after which they are few.
constexpr int64_t kMostItems = int64_t{256} << 10;
constexpr int64_t kMostLayers = int64_t{64} << 10;
// What a commit has to go through for one; more came only where there was none for long.
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

struct SummaryBytes {
  std::vector<std::byte> bytes;
  std::shared_ptr<const SummarizedIndex> index;
};

// Of a state whose journal ends at `position`, where the summary begins. Nothing where it would be
// large.
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
      .partial_items = state.partial.items.span()};
  format::JournalSummary summary;
  summary.edits = journal.edits;
  summary.reused = journal.reused;
  summary.pieces = std::move(flat.pieces);
  std::vector<SummarizedIndex::Table> tables;
  if (state.chunks.summary() != nullptr) tables = state.chunks.summary()->tables();
  for (const SummarizedIndex::Table& table : tables) summary.tables.push_back(table.place);
  const auto entries =
      std::make_shared<const std::vector<std::byte>>(format::EncodeEntries(flat.entries));
  SummaryBytes made;
  made.bytes = format::EncodeSummary(summary, commit, *entries, position, identity);
  tables.push_back({.place = summary.tables.back(), .entries = Chunk(*entries, entries)});
  made.index = std::make_shared<const SummarizedIndex>(std::move(summary.pieces), std::move(tables),
                                                       state.chunks.size());
  return made;
}

}  // namespace

// Whether a journal begins there that may get so long that opening the frame would take long.
bool JournalWriter::NeedsAnchor(int64_t position) const {
  const State& state = base();
  return state.journal.has_value() && state.journal->empty() && position == state.journal->begin &&
         state.header().layout == Layout::kContiguous && state.checkpoint->seal_holds &&
         !state.checkpoint->seal->journal.has_value() && frame_.limit.bytes == INT64_MAX &&
         state.chunks.size() >= state.env()->checkpoints.least_summarized &&
         sink_->HasRoomFor(format::kAnchorSize);
}

void JournalWriter::BeginWithAnchor() {
  sink_->BeginWith(format::EncodeAnchor(AnchorOf(base()).identity));
}

// Where the disk is too full, readers replay more.
absl::Status JournalWriter::WriteSlot(int64_t number, const format::SummarySlot& slot) {
  const AnchorPlace anchor = AnchorOf(base());
  const absl::Status status =
      frame_.file->WriteAt(anchor.slot(number), format::EncodeSlot(slot, anchor.identity));
  return absl::IsResourceExhausted(status) ? absl::OkStatus() : status;
}

// A sync that began after a later commit covers it.
absl::Status JournalWriter::MarkSummary() {
  if (!unmarked_.has_value() || frame_.sync->durable().generation <= unmarked_->generation) {
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(WriteSlot(1, *unmarked_));
  unmarked_.reset();
  return absl::OkStatus();
}

// The commits that come now have the generations of those that it names.
absl::Status JournalWriter::VoidSummaries() {
  for (int64_t number = 0; number < format::kSlots; ++number) {
    CAIRN_RETURN_IF_ERROR(WriteSlot(number, {}));
  }
  summary_is_void_ = false;
  return absl::OkStatus();
}

bool JournalWriter::IsSummaryDue() {
  const State& state = base();
  const CheckpointPolicy& policy = state.env()->checkpoints;
  const bool is_due = state.journal->edits - summed_up_ >= policy.edits_of_summary &&
                      state.chunks.size() >= policy.least_summarized &&
                      static_cast<int64_t>(state.partial.items.size()) <= kMostItems &&
                      frame_.limit.bytes == INT64_MAX;
  if (!is_due) return false;
  // If nothing comes of it, it is tried again after as many edits.
  summed_up_ = state.journal->edits;
  return HasAnchor(frame_.source, AnchorOf(state));
}

absl::Status JournalWriter::SumUp(const Stager& stager) {
  CAIRN_RETURN_IF_ERROR(MarkSummary());
  if (!IsSummaryDue()) return absl::OkStatus();
  const int64_t begin = sink_->end();
  const std::optional<SummaryBytes> summary = SummaryOf(base(), begin, AnchorOf(base()).identity);
  if (!summary.has_value()) return absl::OkStatus();
  const auto size = static_cast<int64_t>(summary->bytes.size());
  if (!HasRoomFor(size + 2 * format::kReceiptSize)) return absl::OkStatus();
  // What is kept on a full disk for deleting stays.
  StageAt(begin + size);
  if (!Reserve(stager).ok()) {
    StageAt(begin);
    return absl::OkStatus();
  }
  const absl::Status written = frame_.file->WriteAt(begin, summary->bytes);
  if (absl::IsResourceExhausted(written)) {
    StageAt(begin);
    return DropAfter(begin);
  }
  CAIRN_RETURN_IF_ERROR(written);
  if (remains_end_ > sink_->end()) CAIRN_RETURN_IF_ERROR(MarkEnd(sink_->end()));
  const auto state = std::make_shared<State>(base());
  state->chunks = ChunkIndex(base().chunks, summary->index);
  EndAfterSummary(sink_->end(), *state->journal);
  CAIRN_ASSIGN_OR_RETURN(state->region, frame_.source.ViewMore(state->region, sink_->end()));
  frame_.Adopt(state);
  format::SummarySlot slot = {.position = begin,
                              .size = size,
                              .generation = state->journal->generation,
                              .last = state->journal->last};
  // One that waits is marked first: there may be many summaries from one sync to the next.
  if (!unmarked_.has_value()) unmarked_ = slot;
  slot.boot = frame_.source.BootHere(state->env()->boot);
  return slot.boot != 0 ? WriteSlot(0, slot) : absl::OkStatus();
}

}  // namespace cairn::frame
