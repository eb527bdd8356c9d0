#include "engine/collection/write/collection_recover.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/collection/members/member_files.h"
#include "engine/collection/members/member_reader.h"
#include "engine/collection/write/gate.h"
#include "engine/collection/write/writer_core.h"
#include "engine/frame/files/copy_files.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::collection {

namespace {

// Lists the frame at `path` as a member. Errors: kUnavailable if a writer holds it, and others that
// do not say that the file is none of a member.
absl::Status Adopt(const std::string& name, const std::string& path, MemberKind kind,
                   const Site& site, LedgerTable& table, CollectionRecovery& report) {
  absl::StatusOr<Position> position = Position();
  if (absl::Status named = CheckMemberName(name); !named.ok()) position = std::move(named);
  if (position.ok()) position = MakeComplete(path, site);
  const MemberEntry entry = {
      .id = RandomNumber(), .kind = kind, .position = position.value_or(Position())};
  if (!position.ok()) {
    if (!IsNoMember(position.status())) return position.status();
    report.unreadable.push_back(absl::StrFormat("%s: %s", name, position.status().message()));
  } else if (table.members.emplace(name, entry).second) {
    report.adopted.push_back(name);
  } else {
    report.unreadable.push_back(name + ": another file has this name, too");
  }
  return absl::OkStatus();
}

// A file that lies aside was removed, or had not got its name yet. Only the ledger knew which.
absl::Status AdoptAside(const std::vector<std::string>& files, const Site& site, LedgerTable& table,
                        CollectionRecovery& report) {
  for (const std::string& path : files) {
    const absl::StatusOr<Frame> frame = Frame::Open(path, site.MemberOptions());
    if (!frame.ok()) continue;
    const MemberKind kind =
        frame->snapshot().array().has_value() ? MemberKind::kArray : MemberKind::kOther;
    const std::string name = absl::StrFormat("/found/%016x", RandomNumber());
    const std::string place = site.PathOf(name, kind);
    CAIRN_RETURN_IF_ERROR(MakeDirectories(site, DirectoryOf(place)));
    CAIRN_RETURN_IF_ERROR(site.files->Rename(path, place, /*replace=*/false));
    CAIRN_RETURN_IF_ERROR(site.files->SyncDirectoryOf(place));
    CAIRN_RETURN_IF_ERROR(Adopt(name, place, kind, site, table, report));
  }
  return absl::OkStatus();
}

// A ledger that cannot be read stays beside the new one. Errors: kUnavailable if a writer has it.
absl::Status PutLedgerAside(const Site& site) {
  absl::StatusOr<std::unique_ptr<File>> old =
      site.files->Open(site.LedgerPath(), FileMode::kReadWrite);
  if (absl::IsNotFound(old.status())) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(old.status());
  CAIRN_RETURN_IF_ERROR((*old)->LockByte(frame::kWriterLockByte, LockMode::kExclusive));
  const std::string place = absl::StrFormat("%s.%016x.damaged", site.LedgerPath(), RandomNumber());
  CAIRN_RETURN_IF_ERROR(site.files->Rename(site.LedgerPath(), place, /*replace=*/false));
  return site.files->SyncDirectoryOf(place);
}

absl::StatusOr<CollectionRecovery> MakeLedger(const Site& site) {
  CollectionRecovery report = {.ledger_lost = true};
  LedgerTable table = {.number = 1};
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> aside, FindAside(site));
  CAIRN_RETURN_IF_ERROR(AdoptUnlisted(site, table, report));
  CAIRN_RETURN_IF_ERROR(AdoptAside(aside, site, table, report));
  if (table.members.empty()) {
    return NotFound("%s: neither a ledger nor a member that can be read", site.root);
  }
  std::vector<std::string> like = {site.LedgerPath()};
  if (!site.files->Identity(like[0]).ok()) {
    for (const auto& [name, entry] : table.members) like.push_back(site.PathOf(name, entry.kind));
  }
  const std::shared_ptr<FileSystem> files = frame::FilesForCopyOf(like, site.files);
  CAIRN_RETURN_IF_ERROR(PutLedgerAside(site));
  CAIRN_RETURN_IF_ERROR(CreateLedger(site.LedgerPath(), files, table));
  return report;
}

// Returns whether there is a ledger that can be read. Errors: kFailedPrecondition if the frame is
// that of another program.
absl::StatusOr<bool> HasLedger(const Site& site) {
  const absl::StatusOr<Frame> frame = Frame::Open(site.LedgerPath(), LedgerReading(site.files));
  const absl::Status& status = frame.status();
  const bool is_lost =
      absl::IsNotFound(status) || absl::IsDataLoss(status) || absl::IsInvalidArgument(status);
  if (!frame.ok()) return is_lost ? absl::StatusOr<bool>(false) : status;
  const absl::Status read = ReadLedger(frame->snapshot(), nullptr).status();
  if (frame->snapshot().info().trailer_damaged || absl::IsDataLoss(read)) return false;
  if (read.ok()) return true;
  return AtPath(site.LedgerPath(), read);
}

// Lists members as they are. Errors: kDataLoss if the ledger is damaged.
absl::StatusOr<CollectionRecovery> AdoptInLedger(const std::shared_ptr<const Site>& site) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> ledger,
                         site->files->Open(site->LedgerPath(), FileMode::kRead));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<Gate> gate, Gate::TakeAlone(*site, {}));
  CAIRN_ASSIGN_OR_RETURN(
      const std::unique_ptr<WriterCore> writer,
      WriterCore::Open(site, *ledger, std::move(gate), {}, /*takes_damage=*/true));
  CAIRN_ASSIGN_OR_RETURN(CollectionRecovery report, writer->AdoptMembers());
  // Complete checkpoints would be a commit, for a collection that stays as it is.
  if (report.adopted.empty() && report.missing.empty()) return report;
  const absl::Status closed = writer->Close();
  if (!closed.ok() && report.unreadable.empty()) return closed;
  return report;
}

}  // namespace

bool IsNoMember(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsInvalidArgument(status) ||
         absl::IsUnimplemented(status) || absl::IsFailedPrecondition(status);
}

absl::Status AdoptUnlisted(const Site& site, LedgerTable& table, CollectionRecovery& report) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> files, FindMembers(site));
  for (const std::string& path : files) {
    const std::string_view inside = std::string_view(path).substr(site.root.size());
    const std::optional<MemberKind> kind = KindOfFile(inside);
    if (!kind.has_value()) continue;  // a ledger
    const std::string name(inside.substr(0, inside.size() - SuffixOf(*kind).size()));
    const auto listed = table.members.find(name);
    if (listed != table.members.end() && listed->second.kind == *kind) continue;
    CAIRN_RETURN_IF_ERROR(Adopt(name, path, *kind, site, table, report));
  }
  return absl::OkStatus();
}

absl::StatusOr<Position> MakeComplete(const std::string& path, const Site& site) {
  // A link, or a file with two names, would become two members.
  const absl::StatusOr<FileIdentity> file = site.files->IdentityOfLeft(path, path);
  if (absl::IsPermissionDenied(file.status())) {
    return FailedPrecondition("%s", file.status().message());
  }
  CAIRN_RETURN_IF_ERROR(file.status());
  {
    CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, site.MemberOptions()));
    CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
    CAIRN_ASSIGN_OR_RETURN(const Snapshot newest, frame.Refresh());
    // Metalayers that were changed outside are sealed as they are.
    for (const std::string& name : newest.info().changed_metalayers) {
      CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content, newest.GetMetalayer(name));
      CAIRN_RETURN_IF_ERROR(writer.SetMetalayer(name, content));
    }
    CAIRN_RETURN_IF_ERROR(writer.Checkpoint());
    CAIRN_RETURN_IF_ERROR(writer.Close());
  }
  CAIRN_ASSIGN_OR_RETURN(const Frame complete, Frame::Open(path, site.MemberOptions()));
  return PositionOf(complete.snapshot());
}

absl::StatusOr<CollectionRecovery> RecoverCollection(const std::string& path,
                                                     const CollectionOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(Site made, MakeSite(path, options));
  const auto site = std::make_shared<const Site>(std::move(made));
  if (IsInObjects(*site)) {
    return Unimplemented("%s: a collection in an object store is not recovered", site->root);
  }
  CAIRN_RETURN_IF_ERROR(site->files->OpenDirectory(site->root).status());
  CAIRN_ASSIGN_OR_RETURN(const bool has_ledger, HasLedger(*site));
  if (!has_ledger) return MakeLedger(*site);
  absl::StatusOr<CollectionRecovery> report = AdoptInLedger(site);
  // A damaged index keeps nobody from reading the ledger, but it cannot be written.
  return absl::IsDataLoss(report.status()) ? MakeLedger(*site) : std::move(report);
}

}  // namespace cairn::collection
