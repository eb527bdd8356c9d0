// A writer of a collection that shares it with others.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_SHARED_WRITER_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_SHARED_WRITER_H_

#include <chrono>
#include <memory>
#include <utility>

#include "engine/base/deadline.h"
#include "engine/collection/members/members_writer.h"
#include "engine/collection/write/writer_core.h"

namespace cairn::collection {

// Any number of these write a collection at the same time. Each holds the members that it edits
// until its commit, and has the ledger for the moment of a call that needs it: its turn. Chunks are
// made and written between turns.
//
// A writer that holds a member has completed it, as the ledger wants it, before. So others need not
// care for members that are held, and complete all that are not before the ledger forgets what it
// has of them: their writers may have died.
class SharedWriter final : public MembersWriter {
 public:
  // Errors: kUnavailable if a writer that is not shared has the collection for all of
  // `options.wait`; kFailedPrecondition if others have it and `options.keep_commits` is another
  // number than theirs.
  static absl::StatusOr<std::unique_ptr<SharedWriter>> Open(std::shared_ptr<const Site> site,
                                                            const File& opened,
                                                            const CollectionWriterOptions& options);

  absl::StatusOr<Writer*> Edit(std::string_view name) override;
  absl::StatusOr<Writer*> Add(std::string_view name, const CreateOptions& options) override;
  absl::Status Remove(std::string_view name) override;
  absl::Status Copy(std::string_view from, std::string_view to) override;
  absl::Status AddCopy(std::string_view name, MemberKind kind, const Snapshot& content) override;
  absl::StatusOr<uint64_t> Commit() override;
  void Rollback() override;
  absl::StatusOr<bool> HasWaiters() const override;
  // Completes all members if no other writer is there.
  absl::Status Close() override;

 private:
  SharedWriter(std::unique_ptr<WriterCore> core, std::chrono::milliseconds wait)
      : core_(std::move(core)), wait_(wait) {}

  // Does the work in a turn, and again while another writer holds a member that it needs.
  template <typename Work>
  std::invoke_result_t<Work> InTurn(Work work);
  // Errors: kAborted.
  absl::Status CheckConflicts();

  const std::unique_ptr<WriterCore> core_;
  const std::chrono::milliseconds wait_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_SHARED_WRITER_H_
