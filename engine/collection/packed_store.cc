#include "engine/collection/packed_store.h"

#include <memory>

#include "absl/strings/str_format.h"

#include "cairn/copy.h"
#include "cairn/frame.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/member_reader.h"

namespace cairn::collection {

absl::StatusOr<PackedStore> PackedStore::Create(const Site& site) {
  if (site.files->Identity(site.root).ok()) {
    return absl::AlreadyExistsError(absl::StrFormat("%s exists", site.root));
  }
  // A copy that was killed left its file.
  frame::RemoveAbandoned({.files = site.files, .path = site.root});
  CAIRN_ASSIGN_OR_RETURN(frame::AtomicFile file,
                         frame::AtomicFile::CreateBeside(site.files, site.root));
  return PackedStore(site, std::move(file));
}

absl::StatusOr<Position> PackedStore::Add(std::string_view name, MemberKind kind,
                                          const Snapshot& frame,
                                          const std::optional<Snapshot>& since) {
  Position position;
  const std::string inside = site_.PathOf(name, kind).substr(site_.root.size() + 1);
  CAIRN_RETURN_IF_ERROR(zip_.Add(inside, [&](std::shared_ptr<FileSystem> files) -> absl::Status {
    const std::string path = "/" + inside;
    OpenOptions options = site_.MemberOptions();
    options.file_system = files;
    CopyOptions copying = {.since = since, .layout = Layout::kContiguous};
    copying.file_system = std::move(files);
    CAIRN_RETURN_IF_ERROR(frame.CopyTo(path, copying));
    CAIRN_ASSIGN_OR_RETURN(const Frame copy, Frame::Open(path, options));
    position = PositionOf(copy.snapshot());
    return absl::OkStatus();
  }));
  return position;
}

absl::Status PackedStore::AddLedger(std::string_view layer, Bytes content) {
  return zip_.Add(std::string(kLedgerName), [&](std::shared_ptr<FileSystem> files) {
    return CreateLedger("/" + std::string(kLedgerName), std::move(files), layer, content);
  });
}

absl::Status PackedStore::Publish() {
  CAIRN_RETURN_IF_ERROR(zip_.Finish());
  return file_.Publish(/*replace=*/false);
}

}  // namespace cairn::collection
