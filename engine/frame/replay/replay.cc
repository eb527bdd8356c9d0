#include "engine/frame/replay/replay.h"

#include <algorithm>
#include <list>
#include <unordered_set>
#include <utility>
#include <variant>

#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/replay/commit_check.h"
#include "engine/frame/replay/stranded_commits.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

namespace {

// Applies commits as soon as it is certain that they count. Not thread-safe.
class JournalReplayer {
 public:
  JournalReplayer(const FrameFile& source, const State& start, JournalReader& reader,
                  const ReplayOptions& options)
      : source_(source),
        start_(start),
        reader_(reader),
        options_(options),
        rules_(start.env()->replay),
        scanned_(*start.journal),
        trust_(source.BootHere(start.env()->boot)) {}

  absl::StatusOr<ReplayResult> Run();

 private:
  // Continues with the record that the reader finds next. Returns false if the journal ends there,
  // or has reached the last generation asked for.
  absl::StatusOr<bool> Step();
  // Returns false if the record does not follow.
  absl::StatusOr<bool> Take(const std::optional<FoundRecord>& found);
  absl::StatusOr<bool> TakeCommit(const FoundRecord& record);
  absl::StatusOr<bool> TakeReceipt(const FoundRecord& record);
  bool TakeGoesOn(const FoundRecord& record);
  // Returns true if the record tells that the header should lead to another checkpoint. That is
  // then the result's damage.
  bool NoteEnded(const FoundRecord& record);
  // Returns the next commit record, somewhere after `stop`, where the reader found nothing that
  // follows. Sets the result's damage if the bytes there show it.
  absl::StatusOr<std::optional<FoundRecord>> Search(int64_t stop);
  bool IsTrusted(const JournaledCommit& commit) const;
  bool IsDurable(const JournaledCommit& commit) const;
  // Applies the first commits that wait: all that may be applied if `all`, else those that are
  // certain to count. Returns false if one of them does not count.
  absl::StatusOr<bool> ApplyWaiting(bool all);
  // Returns true if the chunks of the first commit that waits have their fingerprints.
  absl::StatusOr<bool> ChunksMatch(const JournaledCommit& commit);
  // Returns false if the first commit that waits does not count.
  absl::StatusOr<bool> ApplyFirst();
  // Applies every edit of the commit, which makes the partial chunk `partial`. The index of the
  // checkpoint must be readable where the edits need it.
  absl::Status Apply(const JournaledCommit& commit, PartialChunk partial);
  absl::Status ApplyChunks(const std::vector<format::ChunkEdit>& edits);
  int64_t NotePlaced(const JournaledCommit& commit);
  void NoteRemoved(const JournaledCommit& commit, const PartialChunk& partial);
  void NoteRemoved(const IndexEntry& entry);
  void ApplyLayers(const std::vector<format::LayerEdit>& edits);
  // Begins after the summary, unless it does not fit the checkpoint.
  absl::Status BeginAfter(const LoadedSummary& summary);
  // Continues from the summary's index if the state is the one that it sums up.
  void Join(const LoadedSummary& summary, State& state);
  absl::Status Finish();
  bool is_sparse() const { return start_.header().layout == Layout::kSparse; }
  const State& state() const { return state_ != nullptr ? *state_ : start_; }
  State& OwnState() {
    if (state_ == nullptr) state_ = std::make_shared<State>(start_);
    return *state_;
  }

  const FrameFile& source_;
  const State& start_;
  JournalReader& reader_;
  const ReplayOptions& options_;
  const ReplayChecks rules_;
  std::shared_ptr<State> state_;  // null before the first commit, because most polls find none
  std::shared_ptr<Metadata> metadata_;      // metadata of state_, from the first edit of a layer on
  std::optional<VlMetalayerTable> layers_;  // vlmetalayers of metadata_, from then on
  JournalPosition scanned_;                 // includes the commits that wait
  JournalTrust trust_;
  std::list<JournaledCommit> waiting_;
  std::unordered_set<int64_t> checked_files_;
  std::optional<LayerNames> names_;  // see CheckCommit
  bool refused_ = false;             // the first commit that waits was refused
  bool uncut_ = false;               // no power cut took a part of the waiting commits
  ReplayResult result_;
};

absl::Status JournalReplayer::ApplyChunks(const std::vector<format::ChunkEdit>& edits) {
  for (const format::ChunkEdit& edit : edits) {
    CAIRN_RETURN_IF_ERROR(ApplyEdit(edit, state_->chunks));
  }
  return absl::OkStatus();
}

// Notes where the commit's chunks lie. Returns the bytes of those before the index, or in files.
int64_t JournalReplayer::NotePlaced(const JournaledCommit& commit) {
  int64_t reused = 0;
  for (const format::ChunkEdit& edit : commit.record.chunks) {
    const format::IndexedChunk* const chunk = format::StoredBy(edit);
    if (chunk == nullptr) continue;
    const int64_t begin = (is_sparse() ? 0 : state().header().header_len) + chunk->entry.value;
    if (is_sparse() || begin < state().journal->begin) reused += chunk->entry.cbytes;
    if (options_.footprint == nullptr) continue;
    options_.footprint->placed.push_back(
        {.bytes = {begin, begin + chunk->entry.cbytes}, .record_end = commit.end});
  }
  return reused;
}

void JournalReplayer::NoteRemoved(const IndexEntry& entry) {
  if (!HasBytesOfItsOwn(entry)) return;
  const int64_t begin = state().header().header_len + entry.value;
  options_.footprint->removed.push_back({begin, begin + entry.cbytes});
}

// Notes the chunks that a commit removes. It is not applied yet, and makes the chunk `partial`.
void JournalReplayer::NoteRemoved(const JournaledCommit& commit, const PartialChunk& partial) {
  if (options_.footprint == nullptr || is_sparse()) return;
  const std::optional<format::IndexedChunk>& old_head = state().partial.head;
  if (old_head.has_value() && commit.record.partial.replaces) NoteRemoved(old_head->entry);
  ChunkIndex chunks = state().chunks;
  const auto note = [&](int64_t nchunk) {
    const absl::StatusOr<IndexEntry> entry = chunks.Get(nchunk);
    // A short last chunk may leave the index as the head of the pending items.
    const bool is_head =
        entry.ok() && partial.head.has_value() && partial.head->entry.value == entry->value;
    if (entry.ok() && !is_head) NoteRemoved(*entry);
  };
  for (const format::ChunkEdit& edit : commit.record.chunks) {
    if (const auto* replace = std::get_if<format::ReplaceEdit>(&edit)) {
      note(replace->nchunk);
    } else if (const auto* erase = std::get_if<format::EraseEdit>(&edit)) {
      for (int64_t i = 0; i < erase->count; ++i) note(erase->first + i);
    }
    if (!ApplyEdit(edit, chunks).ok()) return;
  }
}

void JournalReplayer::ApplyLayers(const std::vector<format::LayerEdit>& edits) {
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

absl::Status JournalReplayer::Apply(const JournaledCommit& commit, PartialChunk partial) {
  const format::CommitTotals& totals = *commit.record.totals;
  State& state = OwnState();
  CommitStep step = StepOf(commit);
  step.reused = NotePlaced(commit);
  NoteRemoved(commit, partial);
  CAIRN_RETURN_IF_ERROR(ApplyChunks(commit.record.chunks));
  ApplyLayers(commit.record.layers);
  state.partial = std::move(partial);
  state.nbytes = totals.nbytes;
  state.chunksize = totals.chunksize;
  state.vlblocks = totals.vlblocks;
  state.stored_bytes = BelievedBytes(totals.stored_bytes);
  Advance(step, *state.journal);
  if (options_.summary != nullptr && options_.footprint != nullptr) Join(*options_.summary, state);
  if (options_.visit) options_.visit(state);
  return absl::OkStatus();
}

absl::Status JournalReplayer::BeginAfter(const LoadedSummary& summary) {
  const format::SummarySlot& slot = summary.slot;
  JournaledCommit commit{.record = summary.content.record,
                         .begin = slot.position,
                         .record_begin = slot.position,
                         .end = slot.end(),
                         .checksum = slot.last,
                         .receipt = std::nullopt};
  commit.record.links.base = start_.journal->base;
  State& state = OwnState();
  state.chunks = ChunkIndex(start_.chunks, summary.index);
  // The commits may have set another chunksize while there were no chunks.
  if (state.chunksize != commit.record.totals->chunksize) {
    state.chunksize = format::kChunksizeUnknown;
  }
  PartialChunk partial = PartialAfter({}, commit.record);
  if (!CheckCommit(state, commit, partial, names_).ok()) {
    state_ = nullptr;
    names_.reset();
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(Apply(commit, std::move(partial)));
  state.journal->edits = summary.content.edits;
  state.journal->reused = summary.content.reused;
  scanned_ = *state.journal;
  reader_.GoTo(slot.end());
  return absl::OkStatus();
}

void JournalReplayer::Join(const LoadedSummary& summary, State& state) {
  const bool is_that = state.journal->generation == summary.slot.generation &&
                       state.journal->last == summary.slot.last &&
                       state.chunks.size() == summary.index->size();
  if (!is_that) return;
  state.chunks = ChunkIndex(start_.chunks, summary.index);
  options_.footprint->summary_is_void = false;
  options_.footprint->summed_up = state.journal->edits;
}

absl::Status JournalReplayer::Finish() {
  if (metadata_ != nullptr) {
    metadata_->vlmetalayers = std::move(*layers_).Take();
    DescribeData(*metadata_);
    state_->metadata = std::move(metadata_);
  }
  state_->metadata = MetadataWith(state_->metadata, state_->chunks.size(), state_->partial,
                                  state_->header().typesize);
  CAIRN_ASSIGN_OR_RETURN(FrameView region, source_.ViewMore(state_->region, state_->journal->end));
  SetRegion(std::move(region), *state_);
  result_.state = std::move(state_);
  return absl::OkStatus();
}

// A commit that a later one recorded as durable needs no check.
bool JournalReplayer::IsTrusted(const JournaledCommit& commit) const {
  return !rules_.check_chunks || uncut_ || commit.end <= scanned_.durable_end ||
         trust_.Covers(commit.record.links.generation);
}

// A chunk file that an earlier commit named is refused, so that no file is read repeatedly.
absl::StatusOr<bool> JournalReplayer::ChunksMatch(const JournaledCommit& commit) {
  if (!is_sparse()) {
    return ChunksMatchFingerprints(state(), commit, source_, reader_);
  }
  for (const format::ChunkEdit& edit : commit.record.chunks) {
    const format::IndexedChunk* chunk = format::StoredBy(edit);
    if (chunk != nullptr && !checked_files_.insert(chunk->entry.value).second) return false;
  }
  return FilesMatchFingerprints(state(), commit);
}

bool JournalReplayer::IsDurable(const JournaledCommit& commit) const {
  return !rules_.check_durable || commit.end <= scanned_.durable_end ||
         trust_.CoversDurably(commit.record.links.generation);
}

absl::StatusOr<bool> JournalReplayer::ApplyFirst() {
  JournaledCommit& first = waiting_.front();
  PartialChunk partial = PartialAfter(state().partial, first.record);
  if (!first.record.totals.has_value()) first.record.totals = TotalsAfter(state(), partial);
  const absl::Status status = CheckCommit(state(), first, partial, names_);
  const bool passes_limit = absl::IsResourceExhausted(status);
  if (!status.ok() && !passes_limit) {
    // The record is intact, but cannot be right.
    refused_ = true;
    result_.damage = {.bytes = {first.record_begin, first.end}, .stranded = std::ssize(waiting_)};
    return false;
  }
  if (!IsTrusted(first)) {
    CAIRN_ASSIGN_OR_RETURN(const bool match, ChunksMatch(first));
    if (!match) return false;
  }
  // No writer may overwrite a commit, even if it passes a limit of this reader.
  if (passes_limit) return status;
  CAIRN_RETURN_IF_ERROR(Apply(first, std::move(partial)));
  waiting_.pop_front();
  return true;
}

absl::StatusOr<bool> JournalReplayer::ApplyWaiting(bool all) {
  while (!waiting_.empty()) {
    const JournaledCommit& first = waiting_.front();
    if ((!all && !IsTrusted(first)) || (options_.durable_only && !IsDurable(first))) return true;
    CAIRN_ASSIGN_OR_RETURN(const bool applied, ApplyFirst());
    if (!applied) return false;
  }
  return true;
}

absl::StatusOr<bool> JournalReplayer::TakeCommit(const FoundRecord& record) {
  std::optional<JournaledCommit> next = AsNext(record, scanned_, rules_);
  if (!next.has_value()) return false;
  Advance(StepOf(*next), scanned_);
  if (next->receipt.has_value()) trust_.Learn(*next->receipt);
  waiting_.push_back(*std::move(next));
  return ApplyWaiting(false);
}

// Takes a later writer's receipt of the last commit, or of the one that became the checkpoint.
absl::StatusOr<bool> JournalReplayer::TakeReceipt(const FoundRecord& record) {
  const auto receipt = format::FindReceipt(record.bytes, record.begin);
  const bool inherits = start_.checkpoint->seal_holds && start_.checkpoint->seal->journal;
  const bool fits = receipt && receipt->base == scanned_.base && (inherits || !scanned_.empty()) &&
                    receipt->generation == scanned_.generation;
  if (!fits) return false;
  trust_.Learn(*receipt);
  Extend(*receipt, record.end(), scanned_);
  if (waiting_.empty()) {
    Extend(*receipt, record.end(), *OwnState().journal);
    return true;
  }
  waiting_.back().receipt = receipt;
  waiting_.back().end = record.end();
  return ApplyWaiting(false);
}

// Counts only if the trailer is damaged, because an intact one has the same facts.
bool JournalReplayer::TakeGoesOn(const FoundRecord& record) {
  const auto journal = format::FindGoesOn(record.bytes, record.begin);
  if (!journal.has_value() || scanned_.base_known) return false;
  scanned_.base_known = true;
  scanned_.base = journal->base;
  scanned_.last = journal->last;
  scanned_.generation = journal->generation;
  scanned_.begin = scanned_.end = scanned_.durable_end = journal->begin;
  OwnState().journal = scanned_;
  reader_.GoTo(journal->begin);
  return true;
}

bool JournalReplayer::NoteEnded(const FoundRecord& record) {
  const auto ended = format::FindEnded(record.bytes, record.begin);
  const bool is_ours = ended.has_value() && scanned_.base_known && ended->base == scanned_.base &&
                       ended->generation <= format::kMaxGeneration;
  if (!is_ours) return false;
  const auto newer = static_cast<int64_t>(ended->generation - scanned_.generation);
  result_.damage = {.bytes = {0, start_.header().header_len},
                    .stranded = std::max<int64_t>(newer, 1),
                    .newer = ended};
  // Everything that the newer checkpoint followed was durable.
  uncut_ = true;
  return true;
}

absl::StatusOr<bool> JournalReplayer::Take(const std::optional<FoundRecord>& found) {
  if (!found.has_value()) return false;
  switch (found->kind) {
    case format::RecordKind::kCommit:
    case format::RecordKind::kAppend:
      return TakeCommit(*found);
    case format::RecordKind::kReceipt:
      return TakeReceipt(*found);
    case format::RecordKind::kReplaced:
      result_.moved = true;
      return false;
    case format::RecordKind::kGoesOn:
      return TakeGoesOn(*found);
    case format::RecordKind::kEnded:
      NoteEnded(*found);
      return false;
    case format::RecordKind::kUnknown:
      result_.damage = {.bytes = {found->begin, found->end()}, .stranded = 1};
      return false;
  }
  return false;
}

absl::StatusOr<std::optional<FoundRecord>> JournalReplayer::Search(int64_t stop) {
  if (options_.search == JournalSearch::kNear) {
    CAIRN_ASSIGN_OR_RETURN(const bool bytes, reader_.StoppedAtBytes());
    if (!bytes) return std::nullopt;
  }
  // The header of a damaged chunk may have led past records.
  const int64_t begin = options_.search == JournalSearch::kAll ? scanned_.end : stop;
  StrandedCommits stranded(scanned_, stop);
  std::optional<int64_t> next;
  const auto visit = [&](const FoundRecord& record) {
    // Without the trailer, the record may also be the first one of another checkpoint.
    const bool is_next = scanned_.base_known && format::IsCommit(record.kind) &&
                         AsNext(record, scanned_, rules_).has_value();
    if (record.kind == format::RecordKind::kEnded && NoteEnded(record)) return true;
    if (is_next) {
      next = record.begin;
    } else {
      stranded.Note(record, trust_);
    }
    return is_next;
  };
  CAIRN_ASSIGN_OR_RETURN(const bool affordable, reader_.Search(begin, stop, visit));
  if (result_.damage.has_value()) return std::nullopt;
  if (!affordable) {
    result_.damage = {.bytes = {begin, stop}, .stranded = 1};
    return std::nullopt;
  }
  if (!next.has_value()) {
    result_.damage = stranded.Judge(trust_);
    if (scanned_.base_known) result_.other_bases = stranded.other_bases();
    // In this case, too, no power cut took anything of the waiting commits.
    uncut_ = result_.damage.has_value();
    return std::nullopt;
  }
  if (result_.skipped.size() == 0) result_.skipped = {*next < stop ? begin : stop, *next};
  reader_.GoTo(*next);
  return reader_.Next();
}

absl::StatusOr<bool> JournalReplayer::Step() {
  if (scanned_.generation >= options_.last_generation) return false;
  CAIRN_ASSIGN_OR_RETURN(std::optional<FoundRecord> found, reader_.Next());
  CAIRN_ASSIGN_OR_RETURN(const bool taken, Take(found));
  const bool ends =
      result_.moved || result_.damage.has_value() || options_.search == JournalSearch::kNone;
  if (taken || ends) return taken;
  CAIRN_ASSIGN_OR_RETURN(found, Search(found.has_value() ? found->begin : reader_.position()));
  return Take(found);
}

absl::StatusOr<ReplayResult> JournalReplayer::Run() {
  if (options_.footprint != nullptr) {
    options_.footprint->summary_is_void = options_.summary != nullptr;  // until Join
  } else if (options_.summary != nullptr) {
    CAIRN_RETURN_IF_ERROR(BeginAfter(*options_.summary));
  }
  for (bool goes_on = true; goes_on;) {
    CAIRN_ASSIGN_OR_RETURN(goes_on, Step());
  }
  // A power cut may have left these without their chunks. They count if the chunks are intact.
  if (!refused_) CAIRN_RETURN_IF_ERROR(ApplyWaiting(true).status());
  if (state_ != nullptr) CAIRN_RETURN_IF_ERROR(Finish());
  return std::move(result_);
}

}  // namespace

absl::StatusOr<ReplayResult> ReplayJournal(const FrameFile& source, const State& state,
                                           JournalReader& reader, const ReplayOptions& options) {
  return JournalReplayer(source, state, reader, options).Run();
}

}  // namespace cairn::frame
