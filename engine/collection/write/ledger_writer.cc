#include "engine/collection/write/ledger_writer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/collection/members/member_reader.h"
#include "engine/frame/api/handle_access.h"

namespace cairn::collection {

namespace {

// The ledger gets a checkpoint when the commits after the last one have this many bytes, and more
// than eight tables.
constexpr int64_t kLongLedger = 4 << 20;
constexpr int64_t kEntrySize = 64;  // of a table, about

}  // namespace

LedgerWriter::LedgerWriter(std::string path, std::shared_ptr<HeldFile> held,
                           std::shared_ptr<frame::FrameCore> core,
                           std::unique_ptr<frame::FrameWriter> writer,
                           std::shared_ptr<const File> file)
    : path_(std::move(path)),
      held_(std::move(held)),
      core_(std::move(core)),
      frame_writer_(*writer),
      writer_(frame::HandleAccess::Make(std::move(writer))),
      file_(std::move(file)) {}

absl::StatusOr<std::unique_ptr<LedgerWriter>> LedgerWriter::Open(const Site& site,
                                                                 const File& opened,
                                                                 std::chrono::milliseconds wait) {
  const std::string path = site.LedgerPath();
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const File> locks,
                         site.files->Open(path, FileMode::kRead));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file, site.files->Open(path, FileMode::kReadWrite));
  auto held = std::make_shared<HeldFile>(std::move(file), nullptr);
  OpenOptions open = LedgerReading(HoldFile(site.files, path, held));
  open.use_mmap = false;
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<frame::FrameCore> core,
                         frame::FrameCore::Open(path, open));
  CAIRN_RETURN_IF_ERROR(CheckIsCurrent(site, opened));
  WriterOptions writing;
  writing.wait = wait;
  // A checkpoint that the frame needs, as after a receipt that was torn, comes with the table: the
  // commits that the table lacks would else be gone.
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<frame::FrameWriter> writer,
                         OpenWriter(core, writing, frame::Repair::kNoneYet));
  // The writer may have waited.
  CAIRN_RETURN_IF_ERROR(CheckIsCurrent(site, opened));
  std::unique_ptr<LedgerWriter> ledger(new LedgerWriter(path, std::move(held), std::move(core),
                                                        std::move(writer), std::move(locks)));
  CAIRN_RETURN_IF_ERROR(ledger->Read());
  return ledger;
}

Snapshot LedgerWriter::Newest() const { return frame::HandleAccess::Make(core_->newest()); }

absl::Status LedgerWriter::Read() {
  const absl::Status read = ledger_.Follow(Newest());
  return read.ok() ? read : AtPath(path_, read);
}

bool LedgerWriter::owes_checkpoint() const {
  // A TreeStore that keeps a value in the ledger breaks its seal.
  return frame_writer_.needs_checkpoint() || IsCommitInCheckpoint() || !Newest().info().sealed;
}

bool LedgerWriter::IsCommitInCheckpoint() const {
  return !ledger_.commits.empty() && PositionOf(Newest()).checkpoint;
}

bool LedgerWriter::IsLong() const {
  const auto members = static_cast<int64_t>(ledger_.table.members.size());
  return IsCommitInCheckpoint() ||
         ledger_.commit_bytes > std::max(kLongLedger, 8 * kEntrySize * members);
}

absl::StatusOr<bool> LedgerWriter::Prepare(const LedgerCommit& commit) {
  held_->ForgetStaged();
  CAIRN_RETURN_IF_ERROR(writer_.SetVlmetalayer(kCommitLayer, EncodeCommit(commit)));
  CAIRN_RETURN_IF_ERROR(writer_.Prepare(Durability::kProcess));
  // Only a checkpoint is written before the commit.
  return held_->needs_sync() || !held_->Patches().empty();
}

absl::Status LedgerWriter::Commit(LedgerCommit commit) {
  CAIRN_ASSIGN_OR_RETURN(const Snapshot committed, writer_.Commit(Durability::kMachine));
  return ledger_.AddOwn(std::move(commit), committed);
}

absl::Status LedgerWriter::WriteCheckpoint() {
  CAIRN_RETURN_IF_ERROR(writer_.SetVlmetalayer(kTableLayer, EncodeTable(ledger_.table)));
  if (Newest().HasVlmetalayer(kCommitLayer)) {
    CAIRN_RETURN_IF_ERROR(writer_.DeleteVlmetalayer(kCommitLayer));
  }
  CAIRN_RETURN_IF_ERROR(writer_.Checkpoint());
  return ledger_.BeginAfter(Newest());
}

absl::Status LedgerWriter::Resume(std::chrono::milliseconds wait) {
  CAIRN_RETURN_IF_ERROR(writer_.Resume(wait));
  return Read();
}

}  // namespace cairn::collection
