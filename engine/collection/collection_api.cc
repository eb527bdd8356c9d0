#include <utility>

#include "cairn/collection.h"
#include "engine/base/status.h"
#include "engine/collection/collection_core.h"
#include "engine/collection/writer_core.h"

namespace cairn {

CollectionSnapshot::CollectionSnapshot(std::shared_ptr<const collection::View> view)
    : view_(std::move(view)) {}

uint64_t CollectionSnapshot::number() const { return view_->ledger->table.number; }

std::vector<std::string> CollectionSnapshot::Members(std::string_view prefix) const {
  const collection::MemberTable& members = view_->ledger->table.members;
  std::vector<std::string> names;
  for (auto member = members.lower_bound(prefix);
       member != members.end() && std::string_view(member->first).starts_with(prefix); ++member) {
    names.push_back(member->first);
  }
  return names;
}

bool CollectionSnapshot::HasMember(std::string_view name) const {
  return view_->ledger->table.members.contains(name);
}

absl::StatusOr<Snapshot> CollectionSnapshot::OpenMember(std::string_view name) const {
  return view_->OpenMember(name);
}

CollectionWriter::CollectionWriter(std::unique_ptr<collection::WriterCore> core)
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
  CAIRN_ASSIGN_OR_RETURN(Writer* const writer, core_->Add(name, options));
  return MemberWriter(*writer);
}

absl::Status CollectionWriter::Remove(std::string_view name) { return core_->Remove(name); }
absl::StatusOr<uint64_t> CollectionWriter::Commit() { return core_->Commit(); }
void CollectionWriter::Rollback() { core_->Rollback(); }
absl::Status CollectionWriter::Close() { return core_->Close(); }

Collection::Collection(std::shared_ptr<collection::CollectionCore> core) : core_(std::move(core)) {}
Collection::Collection(Collection&&) noexcept = default;
Collection& Collection::operator=(Collection&&) noexcept = default;
Collection::~Collection() = default;

absl::StatusOr<Collection> Collection::Open(const std::string& path,
                                            const CollectionOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<collection::CollectionCore> core,
                         collection::CollectionCore::Open(path, options));
  return Collection(std::move(core));
}

absl::StatusOr<Collection> Collection::Create(const std::string& path,
                                              const CollectionOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<collection::CollectionCore> core,
                         collection::CollectionCore::Create(path, options));
  return Collection(std::move(core));
}

CollectionSnapshot Collection::snapshot() const { return CollectionSnapshot(core_->newest()); }

absl::StatusOr<CollectionSnapshot> Collection::Refresh() {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const collection::View> view, core_->Refresh());
  return CollectionSnapshot(std::move(view));
}

absl::StatusOr<CollectionWriter> Collection::OpenWriter(const CollectionWriterOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<collection::WriterCore> writer,
                         collection::WriterCore::Open(core_->site(), options));
  return CollectionWriter(std::move(writer));
}

}  // namespace cairn
