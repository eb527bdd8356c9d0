// The edits that a writer of a collection has staged, and the members that it has open.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_STAGING_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_STAGING_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/writer.h"
#include "engine/collection/held/member.h"
#include "engine/collection/members/site.h"
#include "engine/collection/write/first_failure.h"
#include "engine/collection/write/ledger_writer.h"

namespace cairn::collection {

// A member is opened only if this many files may be opened before. The member takes up to eight
// while it is opened. The rest is for the commit, which opens files and directories one by one.
inline constexpr int64_t kLeastRoom = 32;
// Returns how many members stay open between commits.
size_t MaxOpenMembers();

// Nothing leads to what this writes before a commit. Not thread-safe.
class Staging {
 public:
  struct NewMember {
    MemberEntry entry;
    std::string path;  // of the file, which lies aside
    Writer writer;
    bool replaces = false;  // of the member whose place it takes
  };
  using OpenMembers = std::map<std::string, std::unique_ptr<Member>, std::less<>>;
  using NewMembers = std::map<std::string, NewMember, std::less<>>;

  // Members that it opens are completed before if the writer shares the collection. The references
  // stay valid.
  Staging(const Site& site, const LedgerWriter& ledger, FirstFailure& failure,
          const CollectionWriterOptions& options)
      : site_(site),
        ledger_(ledger),
        failure_(failure),
        options_(options.members),
        is_shared_(options.shared) {}

  // The calls of CollectionWriter. AddCopy stages a new member with the content of a snapshot.
  absl::StatusOr<Writer*> Edit(std::string_view name);
  absl::StatusOr<Writer*> Add(std::string_view name, const CreateOptions& options);
  absl::Status Remove(std::string_view name);
  absl::Status Copy(std::string_view from, std::string_view to);
  absl::Status AddCopy(std::string_view name, MemberKind kind, const Snapshot& content);
  // Drops what is staged. A member whose commit was prepared is opened again when it is needed.
  void Drop();
  // Stages a copy of the member, which takes its place.
  absl::Status Replace(const Member& member);

  const OpenMembers& members() const { return members_; }
  const MemberTable& removed() const { return removed_; }
  const NewMembers& added() const { return added_; }
  bool HasOpen(std::string_view name) const {
    return members_.contains(name) || added_.contains(name);
  }
  // Checks that nothing that others have committed stands against what is staged. Errors: kAborted.
  absl::Status CheckConflicts() const;
  // Opens a member. The caller has made room.
  absl::StatusOr<Member*> OpenMember(std::string_view name);
  // Closes idle members if the process may not open the files of one more. Errors:
  // kResourceExhausted if that is not enough.
  absl::Status MakeRoom(std::string_view name);
  // Closes members that were not changed for long, if more than `most` are open.
  absl::Status CloseSome(size_t most);
  void CloseAll() { members_.clear(); }
  absl::Status Sync(absl::FunctionRef<bool(const Member&)> which) const;
  // Syncs edited members of which the ledger will get no copies.
  absl::Status SyncEarly() const;

  // Completes the files of new members, and adds all that is staged to the commit.
  absl::Status Prepare(LedgerCommit& commit);
  // Writes what waited for the ledger's decision, and forgets what was staged.
  absl::Status Release(const LedgerCommit& commit);
  // Forgets edits that came to nothing.
  void ForgetEdited() { edited_.clear(); }

 private:
  const LedgerTable& table() const { return ledger_.ledger().table; }
  absl::Status CheckIsThere(std::string_view name) const;
  // Checks that a new member may have the name.
  absl::Status CheckIsFree(std::string_view name) const;
  // Stages a new member of that name, without looking whether there is one, or room for its files.
  absl::Status StageContent(const Snapshot& content, MemberKind kind, std::string_view to);
  absl::Status CompleteNew();

  const Site& site_;
  const LedgerWriter& ledger_;
  FirstFailure& failure_;
  const WriterOptions options_;  // of members
  const bool is_shared_;
  OpenMembers members_;  // with a writer
  std::set<std::string, std::less<>> edited_;
  NewMembers added_;
  MemberTable removed_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_STAGING_H_
