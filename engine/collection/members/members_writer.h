// The writer of a collection, whatever keeps its members.
#ifndef CAIRN_ENGINE_COLLECTION_MEMBERS_MEMBERS_WRITER_H_
#define CAIRN_ENGINE_COLLECTION_MEMBERS_MEMBERS_WRITER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/collection/ledger/ledger_codec.h"

namespace cairn::collection {

// The calls are those of CollectionWriter. Not thread-safe.
class MembersWriter {
 public:
  virtual ~MembersWriter() = default;

  virtual absl::StatusOr<Writer*> Edit(std::string_view name) = 0;
  virtual absl::StatusOr<Writer*> Add(std::string_view name, const CreateOptions& options) = 0;
  virtual absl::Status Remove(std::string_view name) = 0;
  // A copy to the same name takes the member's place.
  virtual absl::Status Copy(std::string_view from, std::string_view to) = 0;
  // Stages a new member with the content of a snapshot.
  virtual absl::Status AddCopy(std::string_view name, MemberKind kind, const Snapshot& content) = 0;
  // Makes the next commit fail with kAborted if another one follows the commit with this number
  // before. Rollback ends that. A writer that keeps others away need not do anything.
  void CommitOnlyAfter(uint64_t number) { only_after_ = number; }
  virtual absl::StatusOr<uint64_t> Commit() = 0;
  virtual void Rollback() = 0;
  virtual absl::StatusOr<bool> HasWaiters() const = 0;
  virtual absl::Status Close() = 0;

 protected:
  std::optional<uint64_t> only_after_;  // the commit that the staged edits must follow
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_MEMBERS_MEMBERS_WRITER_H_
