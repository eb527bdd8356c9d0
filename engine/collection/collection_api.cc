#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/collection.h"
#include "engine/base/status.h"
#include "engine/collection/collection_core.h"
#include "engine/collection/collection_increment.h"
#include "engine/collection/collection_open.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/collection/write/collection_recover.h"

namespace cairn {

CollectionSnapshot::CollectionSnapshot(std::shared_ptr<const collection::View> view)
    : view_(std::move(view)) {}

uint64_t CollectionSnapshot::number() const { return view_->table().number; }

std::vector<std::string> CollectionSnapshot::Members(std::string_view prefix) const {
  const collection::MemberTable& members = view_->table().members;
  std::vector<std::string> names;
  for (auto member = members.lower_bound(prefix);
       member != members.end() && std::string_view(member->first).starts_with(prefix); ++member) {
    if (!collection::HoldsAttributes(member->first)) names.push_back(member->first);
  }
  return names;
}

std::vector<std::string> CollectionSnapshot::Groups() const {
  std::set<std::string> groups = {"/"};
  for (const auto& [name, entry] : view_->table().members) {
    for (size_t end = name.rfind('/'); end != 0; end = name.rfind('/', end - 1)) {
      groups.insert(name.substr(0, end));
    }
  }
  return {groups.begin(), groups.end()};
}

absl::StatusOr<Snapshot> CollectionSnapshot::OpenAttributes(std::string_view group) const {
  CAIRN_RETURN_IF_ERROR(collection::CheckIsNoIncrement(*view_));
  return view_->OpenMember(collection::AttributesName(group));
}

absl::Status CollectionSnapshot::CopyTo(const std::string& path) const {
  CAIRN_RETURN_IF_ERROR(collection::CheckIsNoIncrement(*view_));
  return view_->CopyTo(path);
}

absl::StatusOr<uint64_t> CollectionSnapshot::ContentHash() const {
  CAIRN_RETURN_IF_ERROR(collection::CheckIsNoIncrement(*view_));
  return collection::ContentHashOf(*view_);
}

absl::Status CollectionSnapshot::WriteIncrement(const std::string& path,
                                                const CollectionSnapshot& since) const {
  return view_->WriteIncrement(path, *since.view_);
}

absl::StatusOr<IncrementInfo> CollectionSnapshot::GetIncrementInfo() const {
  return collection::IncrementInfoOf(*view_);
}

absl::StatusOr<VerifyReport> CollectionSnapshot::Verify(const VerifyOptions& options) const {
  return view_->Verify(options);
}

bool CollectionSnapshot::HasMember(std::string_view name) const {
  return view_->table().members.contains(name);
}

absl::StatusOr<Snapshot> CollectionSnapshot::OpenMember(std::string_view name) const {
  CAIRN_RETURN_IF_ERROR(collection::CheckIsNoIncrement(*view_));
  return view_->OpenMember(name);
}

CollectionWriter::CollectionWriter(std::unique_ptr<collection::MembersWriter> core)
    : core_(std::move(core)) {}
CollectionWriter::CollectionWriter(CollectionWriter&&) noexcept = default;
CollectionWriter& CollectionWriter::operator=(CollectionWriter&&) noexcept = default;
CollectionWriter::~CollectionWriter() = default;

absl::StatusOr<MemberWriter> CollectionWriter::Edit(std::string_view name) {
  CAIRN_ASSIGN_OR_RETURN(Writer* const writer, core_->Edit(name));
  return MemberWriter(*writer);
}

absl::StatusOr<MemberWriter> CollectionWriter::Add(std::string_view name,
                                                   const CreateOptions& options) {
  if (collection::HoldsAttributes(name)) {
    return InvalidArgument(
        "member name: %s holds the attributes of a group, which are edited as attributes",
        name.substr(0, 256));
  }
  CAIRN_ASSIGN_OR_RETURN(Writer* const writer, core_->Add(name, options));
  return MemberWriter(*writer);
}

absl::Status CollectionWriter::Remove(std::string_view name) { return core_->Remove(name); }
absl::Status CollectionWriter::Copy(std::string_view from, std::string_view to) {
  if (from == to) return absl::AlreadyExistsError(absl::StrFormat("%s: is the member itself", to));
  return core_->Copy(from, to);
}
absl::Status CollectionWriter::Move(std::string_view from, std::string_view to) {
  CAIRN_RETURN_IF_ERROR(Copy(from, to));
  return core_->Remove(from);
}
absl::Status CollectionWriter::Compact(std::string_view name) { return core_->Copy(name, name); }
absl::StatusOr<MemberWriter> CollectionWriter::EditAttributes(std::string_view group) {
  const std::string name = collection::AttributesName(group);
  absl::StatusOr<Writer*> writer = core_->Edit(name);
  if (absl::IsNotFound(writer.status())) {
    writer = core_->Add(name, {.compression = {.typesize = 1, .filters = {}}});
    // Another writer that shares the collection may just have made them.
    if (absl::IsAlreadyExists(writer.status())) {
      if (const absl::StatusOr<Writer*> made = core_->Edit(name); made.ok()) writer = made;
    }
  }
  if (!writer.ok()) return writer.status();
  return MemberWriter(**writer);
}
absl::StatusOr<uint64_t> CollectionWriter::Commit() { return core_->Commit(); }
void CollectionWriter::Rollback() { core_->Rollback(); }
absl::StatusOr<bool> CollectionWriter::HasWaiters() const { return core_->HasWaiters(); }
absl::Status CollectionWriter::Close() { return core_->Close(); }

Collection::Collection(std::shared_ptr<collection::CollectionCore> core) : core_(std::move(core)) {}
Collection::Collection(Collection&&) noexcept = default;
Collection& Collection::operator=(Collection&&) noexcept = default;
Collection::~Collection() = default;

absl::StatusOr<Collection> Collection::Open(const std::string& path,
                                            const CollectionOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<collection::CollectionCore> core,
                         collection::OpenCollection(path, options));
  return Collection(std::move(core));
}

absl::StatusOr<Collection> Collection::Create(const std::string& path,
                                              const CollectionOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<collection::CollectionCore> core,
                         collection::CreateCollection(path, options));
  return Collection(std::move(core));
}

absl::StatusOr<CollectionRecovery> Collection::Recover(const std::string& path,
                                                       const CollectionOptions& options) {
  return collection::RecoverCollection(path, options);
}

CollectionSnapshot Collection::snapshot() const { return CollectionSnapshot(core_->newest()); }

absl::StatusOr<CollectionSnapshot> Collection::Refresh() {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const collection::View> view, core_->Refresh());
  return CollectionSnapshot(std::move(view));
}

absl::StatusOr<std::vector<CommitInfo>> Collection::History() { return core_->History(); }

absl::StatusOr<CollectionSnapshot> Collection::OpenCommit(uint64_t number) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const collection::View> view, core_->OpenCommit(number));
  return CollectionSnapshot(std::move(view));
}

absl::StatusOr<bool> Collection::ApplyIncrement(const CollectionSnapshot& increment,
                                                const CollectionWriterOptions& options) {
  return collection::ApplyIncrement(*core_, *increment.view_, options);
}

bool Collection::has_ledger() const { return core_->has_ledger(); }

absl::StatusOr<CollectionWriter> Collection::OpenWriter(const CollectionWriterOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<collection::MembersWriter> writer,
                         core_->OpenWriter(options));
  return CollectionWriter(std::move(writer));
}

}  // namespace cairn
