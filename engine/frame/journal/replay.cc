#include "engine/frame/journal/replay.h"

#include <algorithm>
#include <list>
#include <utility>
#include <variant>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/journal/commit_check.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

namespace {

IndexEntry EntryOf(const format::PlacedChunk& chunk) {
  return {.value = chunk.entry, .fingerprint = chunk.fingerprint};
}

BatchStep StepOf(const JournaledCommit& following) {
  return {.links = following.record.links,
          .hash = following.checksum,
          .end = following.end,
          .receipt = following.receipt,
          .chunk_edits = std::ssize(following.record.chunks),
          .layer_edits = std::ssize(following.record.layers)};
}

bool IsReceiptOf(const FoundRecord& record, const format::CommitLinks& links) {
  return record.receipt.has_value() && record.receipt->base == links.base &&
         record.receipt->generation == links.generation;
}

// The record as the batch that comes next, if it is.
std::optional<JournaledCommit> AsNext(const FoundRecord& record, const JournalPosition& end,
                                      const ReplayChecks& rules) {
  absl::StatusOr<format::CommitRecord> batch = format::ParseBatch(record.bytes, record.begin);
  if (!batch.ok()) return std::nullopt;
  const format::CommitLinks& links = batch->links;
  const bool linked = end.base_known
                          ? links.base == end.base && links.generation == end.generation + 1 &&
                                (links.previous == end.last || !rules.check_prev)
                          : links.previous == links.base;
  const bool durable_fits = links.durable_end >= end.begin && links.durable_end <= record.begin;
  if (!linked || !durable_fits || links.generation > format::kMaxGeneration) return std::nullopt;
  const bool own_receipt = IsReceiptOf(record, links);
  return JournaledCommit{.record = *std::move(batch),
                         .begin = end.end,
                         .record_begin = record.begin,
                         .end = record.end(),
                         .checksum = format::StoredChecksum(record.bytes),
                         .receipt = own_receipt ? record.receipt : std::nullopt};
}

// Takes batches in as soon as it is sure that they count.
class JournalReplayer {
 public:
  JournalReplayer(const FrameFile& source, const State& state, const FollowOptions& options)
      : source_(source),
        rules_(state.env()->replay),
        options_(options),
        start_(state),
        scanned_(*state.journal),
        trust_(state.env()->boot) {}

  // Goes on with what `finder` finds next. False when the journal ends there, or has gone on up to
  // the last generation asked for.
  absl::StatusOr<bool> Step(JournalReader& finder);
  // Takes those in that a power cut may have left without their chunks, as far as these are whole.
  absl::Status Settle(const JournalReader& finder);

  bool moved() const { return moved_; }
  const std::optional<JournalDamage>& damage() const { return damage_; }
  const Extent& skipped() const { return skipped_; }
  // Null where no batch followed.
  std::optional<Replay>& replay() { return replay_; }

 private:
  // False when it is nothing that follows.
  absl::StatusOr<bool> Take(const std::optional<FoundRecord>& found, const JournalReader& finder);
  absl::StatusOr<bool> TakeBatch(const FoundRecord& record, const JournalReader& finder);
  absl::StatusOr<bool> TakeReceipt(const FoundRecord& record, const JournalReader& finder);
  // False when one of them does not count.
  absl::StatusOr<bool> ApplyTrusted(const JournalReader& finder);
  // The next batch, somewhere behind `stop`, where the finder found nothing that follows. Notes the
  // damage if there is only what shows damage.
  absl::StatusOr<std::optional<FoundRecord>> Search(JournalReader& finder, int64_t stop);
  // False when the first batch that waits does not count.
  absl::StatusOr<bool> ApplyFirst(const JournalReader& finder);
  bool IsTrusted(const JournaledCommit& following) const;
  const State& state() const { return replay_.has_value() ? replay_->state() : start_; }

  const FrameFile& source_;
  const ReplayChecks rules_;
  const FollowOptions& options_;
  const State& start_;
  std::optional<Replay> replay_;  // from the first batch on: most looks find none
  JournalPosition scanned_;       // with the batches that wait
  JournalTrust trust_;
  std::list<JournaledCommit> waiting_;
  std::optional<LayerNames> names_;  // see CheckCommit
  bool moved_ = false;
  bool refused_ = false;  // the first batch that waits
  std::optional<JournalDamage> damage_;
  Extent skipped_;
};

// What a later batch found to be durable needs no second look.
bool JournalReplayer::IsTrusted(const JournaledCommit& following) const {
  return !rules_.check_chunks || following.end <= scanned_.durable_end ||
         trust_.Covers(following.record.links.generation);
}

absl::StatusOr<bool> JournalReplayer::ApplyFirst(const JournalReader& finder) {
  const JournaledCommit& first = waiting_.front();
  PartialChunk tail = TailAfter(state().tail, first.record.tail);
  const absl::Status status = CheckCommit(state(), first, tail, names_);
  const bool passes_limit = absl::IsResourceExhausted(status);
  if (!status.ok() && !passes_limit) {
    // It is whole, and cannot be what it says.
    refused_ = true;
    damage_ = {.bytes = {first.record_begin, first.end}, .stranded = std::ssize(waiting_)};
    return false;
  }
  if (!IsTrusted(first)) {
    CAIRN_ASSIGN_OR_RETURN(const bool whole,
                           ChunksMatchFingerprints(state(), first, source_, finder));
    if (!whole) return false;
  }
  // What passes a limit of the reader is a commit all the same: nobody may write in its place.
  if (passes_limit) return status;
  if (!replay_.has_value()) replay_.emplace(start_);
  CAIRN_RETURN_IF_ERROR(replay_->Apply(first, std::move(tail)));
  if (options_.visit) options_.visit(replay_->state());
  waiting_.pop_front();
  return true;
}

absl::StatusOr<bool> JournalReplayer::TakeBatch(const FoundRecord& record,
                                                const JournalReader& finder) {
  std::optional<JournaledCommit> next = AsNext(record, scanned_, rules_);
  if (!next.has_value()) return false;
  Advance(StepOf(*next), scanned_);
  if (next->receipt.has_value()) trust_.Learn(*next->receipt);
  waiting_.push_back(*std::move(next));
  return ApplyTrusted(finder);
}

// One more of the last batch: it was written only after that was read, or by the next writer.
absl::StatusOr<bool> JournalReplayer::TakeReceipt(const FoundRecord& record,
                                                  const JournalReader& finder) {
  const auto receipt = format::FindReceipt(record.bytes, record.begin);
  const bool fits = receipt.has_value() && receipt->base == scanned_.base &&
                    receipt->generation == scanned_.generation && !scanned_.empty();
  if (!fits) return false;
  trust_.Learn(*receipt);
  Extend(*receipt, record.end(), scanned_);
  if (waiting_.empty()) {
    if (!replay_.has_value()) replay_.emplace(start_);
    replay_->Extend(*receipt, record.end());
    return true;
  }
  waiting_.back().receipt = receipt;
  waiting_.back().end = record.end();
  return ApplyTrusted(finder);
}

absl::StatusOr<bool> JournalReplayer::ApplyTrusted(const JournalReader& finder) {
  while (!waiting_.empty() && IsTrusted(waiting_.front())) {
    CAIRN_ASSIGN_OR_RETURN(const bool applied, ApplyFirst(finder));
    if (!applied) return false;
  }
  return true;
}

absl::StatusOr<bool> JournalReplayer::Take(const std::optional<FoundRecord>& found,
                                           const JournalReader& finder) {
  if (!found.has_value()) return false;
  switch (found->kind) {
    case format::RecordKind::kBatch:
      return TakeBatch(*found, finder);
    case format::RecordKind::kReceipt:
      return TakeReceipt(*found, finder);
    case format::RecordKind::kReplaced:
      moved_ = true;
      return false;
    case format::RecordKind::kUnknown:
      damage_ = {.bytes = {found->begin, found->end()}, .stranded = 1};
      return false;
  }
  return false;
}

absl::StatusOr<std::optional<FoundRecord>> JournalReplayer::Search(JournalReader& finder,
                                                                   int64_t stop) {
  if (options_.search == JournalSearch::kNear) {
    CAIRN_ASSIGN_OR_RETURN(const bool bytes, finder.StoppedAtBytes());
    if (!bytes) return std::nullopt;
  }
  // The header of a damaged chunk may have led past records.
  const int64_t begin = options_.search == JournalSearch::kAll ? scanned_.end : stop;
  if (begin < stop) {
    CAIRN_ASSIGN_OR_RETURN(const bool affordable, finder.Spend(stop - begin));
    if (!affordable) damage_ = {.bytes = {begin, stop}, .stranded = 1};
    if (!affordable) return std::nullopt;
  }
  StrandedCommits stranded(scanned_, stop);
  std::optional<int64_t> next;
  CAIRN_RETURN_IF_ERROR(finder.Search(begin, [&](const FoundRecord& record) {
    const bool is_next =
        record.kind == format::RecordKind::kBatch && AsNext(record, scanned_, rules_).has_value();
    if (is_next) {
      next = record.begin;
    } else {
      stranded.Note(record, trust_);
    }
    return is_next;
  }));
  if (!next.has_value()) {
    damage_ = stranded.Judge(trust_);
    // No power cut took anything of what waits, either.
    if (damage_.has_value()) scanned_.durable_end = scanned_.end;
    return std::nullopt;
  }
  if (skipped_.size() == 0) skipped_ = {*next < stop ? begin : stop, *next};
  finder.GoTo(*next);
  return finder.Next();
}

absl::StatusOr<bool> JournalReplayer::Step(JournalReader& finder) {
  if (scanned_.generation >= options_.last_generation) return false;
  CAIRN_ASSIGN_OR_RETURN(std::optional<FoundRecord> found, finder.Next());
  CAIRN_ASSIGN_OR_RETURN(const bool taken, Take(found, finder));
  const bool ends = moved_ || damage_.has_value() || options_.search == JournalSearch::kNone;
  if (taken || ends) return taken;
  const int64_t stop = found.has_value() ? found->begin : finder.position();
  CAIRN_ASSIGN_OR_RETURN(found, Search(finder, stop));
  return Take(found, finder);
}

absl::Status JournalReplayer::Settle(const JournalReader& finder) {
  bool applied = !refused_;
  while (applied && !waiting_.empty()) {
    CAIRN_ASSIGN_OR_RETURN(applied, ApplyFirst(finder));
  }
  return absl::OkStatus();
}

}  // namespace

void Advance(const BatchStep& step, JournalPosition& end) {
  end.base_known = true;
  end.base = step.links.base;
  end.last = step.hash;
  end.generation = step.links.generation;
  end.end = step.end;
  end.durable_end = std::max(end.durable_end, step.links.durable_end);
  end.receipt = step.receipt;
  // Every batch costs a reader something, even an empty one.
  end.edits += 1 + step.chunk_edits + step.layer_edits;
}

void Extend(const format::Receipt& receipt, int64_t end, JournalPosition& journal) {
  journal.receipt = receipt;
  journal.end = end;
}

PartialChunk TailAfter(const PartialChunk& before, const format::TailEdit& edit) {
  PartialChunk tail = edit.replaces ? PartialChunk() : before;
  if (edit.head.has_value()) {
    tail.head = {
        .entry = EntryOf(*edit.head), .nbytes = edit.head->nbytes, .stored = edit.head->cbytes};
  }
  tail.items.Append(edit.items);
  return tail;
}

absl::Status Replay::ApplyChunks(const std::vector<format::ChunkEdit>& edits) {
  ChunkIndex& chunks = state_->chunks;
  for (const format::ChunkEdit& edit : edits) {
    if (const auto* insert = std::get_if<format::InsertEdit>(&edit)) {
      chunks.Insert(insert->nchunk, EntryOf(insert->chunk));
    } else if (const auto* replace = std::get_if<format::ReplaceEdit>(&edit)) {
      chunks.Replace(replace->nchunk, EntryOf(replace->chunk));
    } else if (const auto* erase = std::get_if<format::EraseEdit>(&edit)) {
      chunks.Erase(erase->first, erase->count);
    } else {
      std::vector<IndexEntry> entries;
      for (const uint32_t nchunk : std::get<format::ReorderEdit>(edit).order) {
        CAIRN_ASSIGN_OR_RETURN(entries.emplace_back(), chunks.Get(nchunk));
      }
      chunks = ChunkIndex(std::move(entries));
    }
  }
  return absl::OkStatus();
}

void Replay::ApplyLayers(const std::vector<format::LayerEdit>& edits) {
  using Kind = format::LayerEdit::Kind;
  if (edits.empty()) return;
  if (metadata_ == nullptr) {
    metadata_ = std::make_shared<Metadata>(*state_->metadata);
    layers_.emplace(std::move(metadata_->vlmetalayers));
  }
  for (const format::LayerEdit& edit : edits) {
    if (edit.kind == Kind::kSetMetalayer) {
      std::ranges::find(metadata_->metalayers, edit.name, &Metalayer::name)->content = edit.content;
    } else if (edit.kind == Kind::kSetVlmeta) {
      const auto content = std::make_shared<const std::vector<std::byte>>(edit.content);
      layers_->Put({edit.name, Chunk(*content, content)});
    } else {
      layers_->Erase(edit.name);
    }
  }
}

absl::Status Replay::Apply(const JournaledCommit& following, PartialChunk tail) {
  const format::CommitTotals& totals = following.record.totals;
  CAIRN_RETURN_IF_ERROR(ApplyChunks(following.record.chunks));
  ApplyLayers(following.record.layers);
  state_->tail = std::move(tail);
  state_->nbytes = totals.nbytes;
  state_->chunksize = totals.chunksize;
  state_->vlblocks = totals.vlblocks;
  state_->stored_bytes =
      totals.stored_bytes < 0 ? std::nullopt : std::optional(totals.stored_bytes);
  Advance(StepOf(following), *state_->journal);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const State>> Replay::Finish(const FrameFile& source) && {
  if (metadata_ != nullptr) {
    metadata_->vlmetalayers = std::move(*layers_).Take();
    metadata_->array = ArrayOf(metadata_->metalayers);
    state_->metadata = std::move(metadata_);
  }
  CAIRN_ASSIGN_OR_RETURN(state_->region, source.ViewMore(state_->region, state_->journal->end));
  state_->chunks_end = state_->journal->end;
  SetContiguousSource(*state_);
  return std::move(state_);
}

absl::StatusOr<ReplayResult> ReplayJournal(const FrameFile& source, const State& state,
                                           JournalReader& finder, const FollowOptions& options) {
  JournalReplayer follower(source, state, options);
  for (bool goes_on = true; goes_on;) {
    CAIRN_ASSIGN_OR_RETURN(goes_on, follower.Step(finder));
  }
  CAIRN_RETURN_IF_ERROR(follower.Settle(finder));
  ReplayResult followed{.state = nullptr,
                        .moved = follower.moved(),
                        .damage = follower.damage(),
                        .skipped = follower.skipped()};
  if (follower.replay().has_value()) {
    CAIRN_ASSIGN_OR_RETURN(followed.state, std::move(*follower.replay()).Finish(source));
  }
  return followed;
}

}  // namespace cairn::frame
