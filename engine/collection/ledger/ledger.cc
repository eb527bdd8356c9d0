#include "engine/collection/ledger/ledger.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/replay/journal_reader.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::collection {

namespace {

using frame::State;

// The bytes of an empty store of embedded values. A TreeStore puts its values there.
constexpr int32_t kStoreSize = 8192;

absl::Status AddCommit(LedgerCommit commit, size_t bytes, Ledger& ledger) {
  for (const std::string& name : commit.removed) {
    const auto member = ledger.table.members.find(name);
    if (member == ledger.table.members.end()) continue;  // which is an error below
    ledger.gone.push_back({.number = commit.number, .name = name, .entry = member->second});
  }
  CAIRN_RETURN_IF_ERROR(ApplyCommit(commit, ledger.table));
  ledger.commits.push_back(std::make_shared<const LedgerCommit>(std::move(commit)));
  ledger.commit_bytes += static_cast<int64_t>(bytes);
  return absl::OkStatus();
}

// A commit of the ledger as a frame.
struct LedgerStep {
  format::CommitRecord record;
  int64_t end = 0;
};

// Returns the record as the commit that follows `ledger`, or nothing if it is another record.
std::optional<LedgerStep> AsNext(const frame::FoundRecord& found, const State& state,
                                 const Ledger& ledger) {
  if (!format::IsCommit(found.kind)) return std::nullopt;
  absl::StatusOr<format::CommitRecord> record = format::ParseCommit(found.bytes, found.begin);
  const bool follows = record.ok() && record->links.base == state.journal->base &&
                       record->links.generation == ledger.generation + 1;
  if (!follows) return std::nullopt;
  return LedgerStep{.record = *std::move(record), .end = found.end()};
}

// Returns the commit that follows `ledger`. A power cut may have taken bytes before it that no
// commit needs, such as a receipt.
absl::StatusOr<std::optional<LedgerStep>> FindNext(const State& state, const Ledger& ledger,
                                                   frame::JournalReader& reader) {
  std::optional<LedgerStep> next;
  for (bool may_follow = true; may_follow && !next.has_value();) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<frame::FoundRecord> found, reader.Next());
    may_follow = found.has_value() && !format::IsCommit(found->kind);
    if (found.has_value()) next = AsNext(*found, state, ledger);
  }
  if (next.has_value()) return next;
  const auto is_next = [&](const frame::FoundRecord& found) {
    next = AsNext(found, state, ledger);
    return next.has_value();
  };
  CAIRN_RETURN_IF_ERROR(reader.Search(ledger.end, reader.position(), is_next).status());
  if (next.has_value()) reader.GoTo(next->end);
  return next;
}

// Sets of the table are records only in an object store. The members' indexes were put before.
absl::Status TakeStep(const LedgerStep& step, const State& state, uint64_t listed, Ledger& ledger) {
  ledger.generation = step.record.links.generation;
  ledger.end = step.end;
  for (const format::LayerEdit& edit : step.record.layers) {
    if (edit.kind != format::LayerEdit::Kind::kSetVlmeta) continue;
    if (edit.name == kTableLayer) {
      ledger.indexed_commits = ledger.commits.size();
      ledger.indexed_bytes = ledger.commit_bytes;
    }
    if (edit.name != kCommitLayer) continue;
    const frame::VlMetalayer layer = {.name = edit.name, .chunk = Chunk(edit.content, nullptr)};
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content,
                           frame::DecodeVlLayer(*state.env(), layer));
    CAIRN_ASSIGN_OR_RETURN(LedgerCommit commit, ParseLedgerCommit(content));
    if (commit.number <= listed) continue;
    CAIRN_RETURN_IF_ERROR(AddCommit(std::move(commit), content.size(), ledger));
  }
  return absl::OkStatus();
}

// Reads the commits that the ledger's journal has after `ledger`, up to the state. Those up to
// number `listed` are in the table.
absl::Status ReadJournal(const State& state, uint64_t listed, Ledger& ledger) {
  frame::JournalReader reader(state.checkpoint->source, ledger.end);
  while (ledger.generation != state.generation()) {
    CAIRN_ASSIGN_OR_RETURN(const std::optional<LedgerStep> next, FindNext(state, ledger, reader));
    if (!next.has_value()) {
      return DataLoss("ledger: generation %d is not found after byte %d", ledger.generation + 1,
                      ledger.end);
    }
    CAIRN_RETURN_IF_ERROR(TakeStep(*next, state, listed, ledger));
  }
  ledger.end = state.journal->end;
  return absl::OkStatus();
}

// Reads the table of the checkpoint. A commit may be a part of the checkpoint.
absl::Status ReadCheckpoint(const Snapshot& snapshot, const State& state, Ledger& ledger) {
  CAIRN_ASSIGN_OR_RETURN(ledger.table, ReadTable(snapshot));
  ledger.checkpoint_id = state.checkpoint->id;
  ledger.end = state.journal->begin;
  const std::optional<format::Seal>& seal = state.checkpoint->seal;
  ledger.generation = seal.has_value() ? seal->generation : 0;
  if (!state.journal->empty() || !snapshot.HasVlmetalayer(kCommitLayer)) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> layer, snapshot.GetVlmetalayer(kCommitLayer));
  CAIRN_ASSIGN_OR_RETURN(LedgerCommit commit, ParseLedgerCommit(layer));
  if (commit.number <= ledger.table.number) return absl::OkStatus();
  return AddCommit(std::move(commit), layer.size(), ledger);
}

absl::Status CheckIsLedger(const State& state) {
  if (!state.journal.has_value()) return FailedPrecondition("ledger: the frame has no journal");
  return state.JournalStatus();
}

}  // namespace

absl::Status Ledger::AddOwn(LedgerCommit commit, const Snapshot& snapshot) {
  const State& state = frame::HandleAccess::StateOf(snapshot);
  const size_t size = EncodeCommit(commit).size();
  CAIRN_RETURN_IF_ERROR(AddCommit(std::move(commit), size, *this));
  checkpoint_id = state.checkpoint->id;
  end = state.journal->end;
  generation = state.generation();
  return absl::OkStatus();
}

absl::Status Ledger::BeginAfter(const Snapshot& snapshot) {
  const State& state = frame::HandleAccess::StateOf(snapshot);
  commits.clear();
  gone.clear();
  commit_bytes = 0;
  indexed_commits = 0;
  indexed_bytes = 0;
  dropped_commits = 0;
  checkpoint_id = state.checkpoint->id;
  end = state.journal->end;
  generation = state.generation();
  return absl::OkStatus();
}

void Ledger::DropIndexed() {
  commits.erase(commits.begin(), commits.begin() + static_cast<ptrdiff_t>(indexed_commits));
  commit_bytes -= indexed_bytes;
  dropped_commits += indexed_commits;
  indexed_commits = 0;
  indexed_bytes = 0;
}

uint64_t Ledger::IndexOf(std::string_view member) const {
  std::optional<uint64_t> index;
  for (const auto& commit : commits) {
    if (std::ranges::find(commit->removed, member) != commit->removed.end()) index.reset();
    for (const AddedMember& added : commit->added) {
      if (added.name == member) index = added.entry.position.generation;
    }
    for (const MemberPart& part : commit->parts) {
      // Each patch is a record, and each record a generation.
      if (part.name == member && !index.has_value()) {
        index = part.position.generation - part.patches.size();
      }
    }
  }
  return index.has_value() ? *index : table.members.find(member)->second.position.generation;
}

std::vector<FilePatch> Ledger::PatchesOf(std::string_view member, uint64_t after) const {
  std::vector<FilePatch> patches;
  for (const auto& commit : commits) {
    // Another member had the name before.
    if (std::ranges::find(commit->removed, member) != commit->removed.end()) patches.clear();
    for (const MemberPart& part : commit->parts) {
      if (part.name != member || part.position.generation <= after) continue;
      if (part.synced) patches.clear();
      patches.insert(patches.end(), part.patches.begin(), part.patches.end());
    }
  }
  return patches;
}

absl::Status Ledger::Follow(const Snapshot& snapshot) {
  const State& state = frame::HandleAccess::StateOf(snapshot);
  CAIRN_RETURN_IF_ERROR(CheckIsLedger(state));
  const bool follows = checkpoint_id == state.checkpoint->id && end <= state.journal->end;
  if (!follows) {
    *this = {};
    CAIRN_RETURN_IF_ERROR(ReadCheckpoint(snapshot, state, *this));
  }
  // In an object store, the newest table may be in a record, after the commits that it has.
  const bool in_objects = state.header().layout == Layout::kSparse;
  return ReadJournal(state, in_objects && !follows ? table.number : 0, *this);
}

absl::StatusOr<std::shared_ptr<const Ledger>> ReadLedger(
    const Snapshot& snapshot, const std::shared_ptr<const Ledger>& before) {
  const State& state = frame::HandleAccess::StateOf(snapshot);
  CAIRN_RETURN_IF_ERROR(CheckIsLedger(state));
  const bool follows = before != nullptr && before->checkpoint_id == state.checkpoint->id;
  if (follows && before->end == state.journal->end) return before;
  auto ledger = follows ? std::make_shared<Ledger>(*before) : std::make_shared<Ledger>();
  CAIRN_RETURN_IF_ERROR(ledger->Follow(snapshot));
  return ledger;
}

absl::StatusOr<LedgerTable> ReadTable(const Snapshot& snapshot) {
  if (!snapshot.HasVlmetalayer(kTableLayer)) {
    return FailedPrecondition("ledger: no layer %s", kTableLayer);
  }
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> table, snapshot.GetVlmetalayer(kTableLayer));
  return ParseTable(table);
}

// A commit may bring many records with large pending items.
OpenOptions LedgerReading(std::shared_ptr<FileSystem> files) {
  OpenOptions open;
  open.limits.max_metadata_nbytes = 512 << 20;
  open.file_system = std::move(files);
  return open;
}

absl::Status CreateLedger(const std::string& path, std::shared_ptr<FileSystem> files,
                          const LedgerTable& table) {
  return CreateLedger(path, std::move(files), kTableLayer, EncodeTable(table));
}

absl::Status CreateLedger(const std::string& path, std::shared_ptr<FileSystem> files,
                          std::string_view layer, Bytes content) {
  CreateOptions options;
  options.compression = {.codec = Codec::kZstd, .typesize = 1, .filters = {}};
  options.chunksize = kStoreSize;
  // {"version": 1}
  constexpr uint8_t kVersion[] = {0x81, 0xA7, 'v', 'e', 'r', 's', 'i', 'o', 'n', 0x01};
  const Bytes version = std::as_bytes(std::span(kVersion));
  options.metalayers.push_back({.name = "b2tree", .content = {version.begin(), version.end()}});
  options.file_system = std::move(files);
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, options));
  // Each checkpoint of an empty frame would be a new file.
  CAIRN_RETURN_IF_ERROR(writer.AppendSpecial(SpecialValue::kZeros, kStoreSize));
  CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(layer, content));
  CAIRN_RETURN_IF_ERROR(writer.Checkpoint());
  return writer.Close();
}

}  // namespace cairn::collection
