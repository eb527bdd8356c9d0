#include "engine/frame/replay.h"

#include <algorithm>
#include <list>
#include <utility>
#include <variant>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/batch_check.h"
#include "engine/frame/vl_layers.h"

namespace cairn::frame {

namespace {

IndexEntry EntryOf(const format::PlacedChunk& chunk) {
  return {.value = chunk.entry, .fingerprint = chunk.fingerprint};
}

BatchStep StepOf(const FollowingBatch& following) {
  return {.links = following.batch.links,
          .hash = following.hash,
          .end = following.end,
          .chunk_edits = std::ssize(following.batch.chunks),
          .layer_edits = std::ssize(following.batch.layers)};
}

// The record as the batch that comes next, if it is.
std::optional<FollowingBatch> AsNext(const FoundRecord& record, const JournalEnd& end,
                                     const ReplayRules& rules) {
  absl::StatusOr<format::Batch> batch = format::ParseBatch(record.bytes);
  if (!batch.ok()) return std::nullopt;
  const format::BatchLinks& links = batch->links;
  const bool linked = end.base_known
                          ? links.base == end.base && links.generation == end.generation + 1 &&
                                (links.previous == end.last || !rules.check_prev)
                          : links.previous == links.base;
  const bool durable_fits = links.durable_end >= end.begin && links.durable_end <= record.begin;
  if (!linked || !durable_fits || links.generation > format::kMaxGeneration) return std::nullopt;
  return FollowingBatch{.batch = *std::move(batch),
                        .begin = end.end,
                        .record = record.begin,
                        .end = record.end(),
                        .hash = format::HashOf(record.bytes)};
}

// Takes batches in as soon as it is sure that they count.
class Follower {
 public:
  Follower(const FrameSource& source, const State& state,
           const std::function<void(const State&)>& visit)
      : source_(source),
        rules_(state.env->replay),
        start_(state),
        visit_(visit),
        scanned_(*state.journal) {}

  // False when the record is not the next batch.
  absl::StatusOr<bool> Take(const FoundRecord& record);
  // The next batch, somewhere behind where the finder stopped because it could read neither chunk
  // nor record. If there is none, but a later batch says that the bytes here were durable,
  // `damaged_at` says where.
  absl::StatusOr<std::optional<FoundRecord>> FindBehind(RecordFinder& finder,
                                                        std::optional<int64_t>& damaged_at) const;
  // Takes those in that may not be durable, as far as their chunks are whole.
  absl::Status Settle(const RecordFinder& finder);

  const JournalEnd& scanned() const { return scanned_; }
  // Where a whole batch stands that follows, and cannot be what it says.
  const std::optional<int64_t>& refused_at() const { return refused_at_; }
  // Null where no batch followed.
  std::optional<Replay>& replay() { return replay_; }

 private:
  // False when the first batch that waits does not count. Its chunks are looked at by `finder`,
  // unless that is null.
  absl::StatusOr<bool> ApplyFirst(const RecordFinder* finder);

  const FrameSource& source_;
  const ReplayRules rules_;
  const State& state() const { return replay_.has_value() ? replay_->state() : start_; }

  const State& start_;
  const std::function<void(const State&)>& visit_;
  std::optional<Replay> replay_;  // from the first batch on: most looks find none
  JournalEnd scanned_;            // with the batches that wait
  std::list<FollowingBatch> waiting_;
  std::optional<LayerNames> names_;  // see CheckBatch
  std::optional<int64_t> refused_at_;
};

absl::StatusOr<bool> Follower::ApplyFirst(const RecordFinder* finder) {
  const FollowingBatch& first = waiting_.front();
  Tail tail = TailAfter(state().tail, first.batch.tail);
  const absl::Status status = CheckBatch(state(), first, tail, names_);
  const bool passes_limit = absl::IsResourceExhausted(status);
  if (!status.ok() && !passes_limit) {
    refused_at_ = first.record;
    return false;
  }
  if (finder != nullptr && rules_.check_chunks) {
    CAIRN_ASSIGN_OR_RETURN(const bool whole, HasWholeChunks(state(), first, source_, *finder));
    if (!whole) return false;
  }
  // What passes a limit of the reader is a commit all the same: nobody may write in its place.
  if (passes_limit) return status;
  if (!replay_.has_value()) replay_.emplace(start_);
  CAIRN_RETURN_IF_ERROR(replay_->Apply(first, std::move(tail)));
  if (visit_) visit_(replay_->state());
  waiting_.pop_front();
  return true;
}

absl::StatusOr<bool> Follower::Take(const FoundRecord& record) {
  std::optional<FollowingBatch> next = AsNext(record, scanned_, rules_);
  if (!next.has_value()) return false;
  Advance(StepOf(*next), scanned_);
  waiting_.push_back(*std::move(next));
  // What a later batch found to be durable needs no second look.
  while (!waiting_.empty() && waiting_.front().end <= scanned_.durable_end) {
    CAIRN_ASSIGN_OR_RETURN(const bool applied, ApplyFirst(nullptr));
    if (!applied) return false;
  }
  return true;
}

absl::StatusOr<std::optional<FoundRecord>> Follower::FindBehind(
    RecordFinder& finder, std::optional<int64_t>& damaged_at) const {
  CAIRN_ASSIGN_OR_RETURN(const bool bytes, finder.StoppedAtBytes());
  if (!bytes) return std::nullopt;
  const int64_t position = finder.position();
  std::optional<FoundRecord> found;
  CAIRN_RETURN_IF_ERROR(finder.Search([&](FoundRecord record) {
    if (record.kind != format::RecordKind::kBatch) return false;
    if (AsNext(record, scanned_, rules_).has_value()) {
      found = std::move(record);
      return true;
    }
    const absl::StatusOr<format::Batch> later = format::ParseBatch(record.bytes);
    const bool shows_damage =
        later.ok() && later->links.base == scanned_.base && later->links.durable_end > position;
    if (shows_damage) damaged_at = position;
    return false;
  }));
  if (found.has_value()) {
    damaged_at.reset();
    finder.GoTo(found->end());
  }
  return found;
}

absl::Status Follower::Settle(const RecordFinder& finder) {
  while (!refused_at_.has_value() && !waiting_.empty()) {
    CAIRN_ASSIGN_OR_RETURN(const bool applied, ApplyFirst(&finder));
    if (!applied) break;
  }
  return absl::OkStatus();
}

}  // namespace

void Advance(const BatchStep& step, JournalEnd& end) {
  end.base_known = true;
  end.base = step.links.base;
  end.last = step.hash;
  end.generation = step.links.generation;
  end.end = step.end;
  end.durable_end = std::max(end.durable_end, step.links.durable_end);
  // Every batch costs a reader something, even an empty one.
  end.edits += 1 + step.chunk_edits + step.layer_edits;
}

Tail TailAfter(const Tail& before, const format::TailEdit& edit) {
  Tail tail = edit.replaces ? Tail() : before;
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
  if (!edits.empty() && !layers_.has_value()) layers_.emplace(std::move(state_->vlmetalayers));
  for (const format::LayerEdit& edit : edits) {
    if (edit.kind == Kind::kSetMetalayer) {
      std::ranges::find(state_->header.metalayers, edit.name, &Metalayer::name)->content =
          edit.content;
      metalayers_set_ = true;
    } else if (edit.kind == Kind::kSetVlmeta) {
      const auto content = std::make_shared<const std::vector<std::byte>>(edit.content);
      layers_->Put({edit.name, Chunk(*content, content)});
    } else {
      layers_->Erase(edit.name);
    }
  }
}

absl::Status Replay::Apply(const FollowingBatch& following, Tail tail) {
  const format::BatchTotals& totals = following.batch.totals;
  CAIRN_RETURN_IF_ERROR(ApplyChunks(following.batch.chunks));
  ApplyLayers(following.batch.layers);
  state_->tail = std::move(tail);
  state_->header.nbytes = totals.nbytes;
  state_->header.chunksize = totals.chunksize;
  state_->header.vlblocks = totals.vlblocks;
  state_->stored_bytes =
      totals.stored_bytes < 0 ? std::nullopt : std::optional(totals.stored_bytes);
  Advance(StepOf(following), *state_->journal);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const State>> Replay::Finish(const FrameSource& source) && {
  if (layers_.has_value()) state_->vlmetalayers = std::move(*layers_).Take();
  if (metalayers_set_) state_->array = ArrayOf(state_->header);
  CAIRN_ASSIGN_OR_RETURN(state_->region, source.ViewMore(state_->region, state_->journal->end));
  state_->chunks_end = state_->journal->end;
  SetContiguousArea(*state_);
  RenewInfo(*state_);
  return std::move(state_);
}

absl::StatusOr<Followed> FollowJournal(const FrameSource& source, const State& state,
                                       RecordFinder& finder, const FollowOptions& options) {
  Follower follower(source, state, options.visit);
  Followed followed;
  while (follower.scanned().generation < options.last_generation) {
    CAIRN_ASSIGN_OR_RETURN(std::optional<FoundRecord> record, finder.Next());
    if (!record.has_value() && options.search) {
      CAIRN_ASSIGN_OR_RETURN(record, follower.FindBehind(finder, followed.damaged_at));
    }
    if (!record.has_value()) break;
    if (record->kind == format::RecordKind::kMoved) {
      followed.moved = true;
      break;
    }
    if (record->kind == format::RecordKind::kLater) {
      followed.damaged_at = record->begin;
      break;
    }
    CAIRN_ASSIGN_OR_RETURN(const bool next, follower.Take(*record));
    if (!next) break;
  }
  CAIRN_RETURN_IF_ERROR(follower.Settle(finder));
  if (follower.refused_at().has_value()) followed.damaged_at = follower.refused_at();
  if (follower.replay().has_value()) {
    CAIRN_ASSIGN_OR_RETURN(followed.state, std::move(*follower.replay()).Finish(source));
  }
  return followed;
}

}  // namespace cairn::frame
