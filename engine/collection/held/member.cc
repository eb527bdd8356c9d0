#include "engine/collection/held/member.h"

#include <algorithm>

#include "engine/base/status.h"
#include "engine/collection/held/writer_files.h"
#include "engine/collection/members/member_reader.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/layout/checkpoint_placer.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::collection {

namespace {

using frame::HandleAccess;
using frame::State;

// A member gets a checkpoint when its journal has this many bytes and an eighth of what lives, or
// this many edits.
constexpr int64_t kLongJournal = 2 << 20;
constexpr int64_t kManyEdits = 1 << 14;

bool IsLong(const State& state) {
  const int64_t written = state.journal->end - state.journal->begin + state.journal->reused;
  const int64_t most = std::max(kLongJournal, state.stored_bytes.value_or(0) / 8);
  return written > most || state.journal->edits > kManyEdits;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Member>> Member::Open(const Site& site, std::string_view name,
                                                     const MemberEntry& entry,
                                                     std::shared_ptr<Retention> retention,
                                                     const WriterOptions& options) {
  const std::string path = site.PathOf(name, entry.kind);
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file, site.files->Open(path, FileMode::kReadWrite));
  auto held = std::make_shared<HeldFile>(std::move(file), retention);
  OpenOptions open = site.MemberOptions();
  open.use_mmap = false;  // what is held back is not in the file
  open.file_system = HoldFile(FilesOfWriters(site.files), path, held);
  CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, open));
  // Nobody has decided that what follows the listed state counts.
  CAIRN_ASSIGN_OR_RETURN(const bool is_ahead, IsAhead(frame.snapshot(), entry.position));
  if (is_ahead) return IsAheadError(frame.snapshot(), entry.position);
  WriterOptions own = options;
  own.wait = {};
  own.opening = Durability::kMachine;
  // Readers of the listed state come through the checkpoint before, until the ledger lists another.
  own.keep_generations = 1;
  own.max_file_size = 0;
  CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter(own));
  CAIRN_ASSIGN_OR_RETURN(const Snapshot newest, frame.Refresh());
  CAIRN_RETURN_IF_ERROR(FindPosition(newest, entry.position).status());
  // Commits will follow the receipt that the writer has written, and the ledger has no copy of it.
  CAIRN_RETURN_IF_ERROR(held->SyncIfWritten());
  held->ForgetStaged();
  return std::unique_ptr<Member>(new Member(std::string(name), entry, std::move(retention),
                                            std::move(held), std::move(frame), std::move(writer)));
}

Member::~Member() {
  if (is_prepared_) held_->Abandon();
}

absl::StatusOr<bool> Member::Prepare() {
  const uint64_t before = frame_.snapshot().info().generation;
  // Chunks go into the file, where nothing leads to them.
  CAIRN_RETURN_IF_ERROR(writer_.Prepare(Durability::kProcess));
  CAIRN_RETURN_IF_ERROR(held_->Hold());
  is_prepared_ = true;
  CAIRN_ASSIGN_OR_RETURN(const Snapshot committed, writer_.Commit(Durability::kProcess));
  if (committed.info().generation > before) return true;
  CAIRN_RETURN_IF_ERROR(Release());
  return false;
}

MemberPart Member::PreparedPart() const {
  return {.name = name_,
          .position = PositionOf(frame_.snapshot()),
          .synced = held_->needs_sync(),
          .patches = held_->Patches()};
}

absl::Status Member::Release() {
  CAIRN_RETURN_IF_ERROR(held_->Release());
  is_prepared_ = false;
  return absl::OkStatus();
}

void Member::Rollback() {
  writer_.Rollback();
  held_->ForgetStaged();
}

bool Member::NeedsNewFile() const {
  const Snapshot committed = frame_.snapshot();
  return !frame::FitsInPlace(frame::StagedState(HandleAccess::StateOf(committed)));
}

absl::Status Member::CheckpointIfDue(bool always) {
  const Snapshot committed = frame_.snapshot();
  const State& state = HandleAccess::StateOf(committed);
  if (state.journal->empty() || (!always && !IsLong(state))) return absl::OkStatus();
  if (NeedsNewFile()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(writer_.Checkpoint());
  held_->ForgetStaged();
  return absl::OkStatus();
}

std::optional<MemberPart> Member::Unlisted() const {
  const Position position = PositionOf(frame_.snapshot());
  if (position == entry_.position) return std::nullopt;
  return MemberPart{.name = name_, .position = position};
}

void Member::NoteListed(uint64_t number) {
  const Position position = PositionOf(frame_.snapshot());
  if (position == entry_.position) return;
  entry_.position = position;
  last_change_ = number;
  retention_->NoteListed(number, entry_.position.generation);
}

bool IsDamageOf(const absl::Status& member) {
  return absl::IsDataLoss(member) || absl::IsInvalidArgument(member) || absl::IsNotFound(member);
}

absl::Status RedoMember(const Site& site, const std::string& path, std::string_view name,
                        const Ledger& ledger) {
  const MemberEntry& entry = ledger.table.members.at(name);
  absl::StatusOr<Frame> frame = Frame::Open(path, site.MemberOptions());
  if (absl::IsNotFound(frame.status())) return absl::OkStatus();
  if (!frame.ok()) return frame.status();
  const Snapshot snapshot = frame->snapshot();
  const State& state = HandleAccess::StateOf(snapshot);
  // Another library wrote the file. Opening the member tells, here and below.
  if (!state.checkpoint->seal_holds) return absl::OkStatus();
  const std::vector<FilePatch> patches = ledger.PatchesOf(name, state.checkpoint->seal->generation);
  if (patches.empty()) return absl::OkStatus();
  // They would destroy a file that has taken the place of the member's.
  const auto missing = [&](uint64_t after) { return ledger.PatchesOf(name, after); };
  const absl::Status fits =
      OpenMemberAt(path, site.MemberOptions(), entry.position, missing).status();
  if (absl::IsDataLoss(fits)) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(fits);
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<File> file,
                         frame::LockForWriting(*site.files, path, {}));
  // A reader, or the next writer after this one dies, must not meet bytes in a place that has newer
  // ones.
  for (const FilePatch& patch : WithoutCovered(patches)) {
    CAIRN_RETURN_IF_ERROR(file->WriteAt(patch.offset, patch.bytes));
  }
  return file->Sync(SyncMode::kAll);
}

}  // namespace cairn::collection
