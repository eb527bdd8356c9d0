// Collections that the tables of one connection share: a statement reads one state of all members,
// and a transaction of SQLite is one commit.
#ifndef CAIRN_TOOLS_SQLITE_TABLE_SHARED_COLLECTION_H_
#define CAIRN_TOOLS_SQLITE_TABLE_SHARED_COLLECTION_H_

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"

namespace cairn::sqlite {

// The rows that one table appends to a member in a transaction.
class TransactionPart {
 public:
  virtual ~TransactionPart() = default;
  virtual const std::string& member() const = 0;
  // Returns true if there are rows to commit, or rows that were committed.
  virtual bool has_pending() const = 0;
  virtual bool has_committed() const = 0;
  // Stages these rows, or their removal.
  virtual absl::Status StageRows(MemberWriter& writer) const = 0;
  virtual absl::Status StageUndo(MemberWriter& writer) const = 0;
  // Called when that is committed.
  virtual void NoteCommitted() = 0;
  virtual void NoteUndone() = 0;
};

// The writer of a collection during a transaction of SQLite. Not thread-safe.
class CollectionTransaction {
 public:
  explicit CollectionTransaction(CollectionWriter writer) : writer_(std::move(writer)) {}

  // Errors: kUnavailable if another part appends to the same member.
  absl::Status Join(TransactionPart& part);
  // The part joins no more. Nothing of it may be staged.
  void Leave(TransactionPart& part);
  // Says that a part is complete. When all are, commits their rows at once. After an error, none is
  // complete any more, and nothing is committed.
  absl::Status Complete(TransactionPart& part);
  // Takes back what was committed, in all parts at once.
  absl::Status Undo();
  // Leaves, and lets others write the collection if this was the last part.
  absl::Status Finish(TransactionPart& part);

 private:
  using IsWanted = absl::FunctionRef<bool(const TransactionPart&)>;
  using Stage = absl::FunctionRef<absl::Status(const TransactionPart&, MemberWriter&)>;

  // Stages the edits of the parts that are wanted.
  absl::Status StageParts(IsWanted is_wanted, Stage stage);
  absl::Status CommitParts(IsWanted is_wanted, Stage stage);

  CollectionWriter writer_;
  std::set<TransactionPart*> parts_;
  std::set<const TransactionPart*> complete_;
};

// An open collection. Not thread-safe.
class SharedCollection {
 public:
  explicit SharedCollection(Collection collection) : collection_(std::move(collection)) {}

  // Returns the state that statements read which run now, while any of them keeps it, or else the
  // newest state.
  absl::StatusOr<std::shared_ptr<const CollectionSnapshot>> Read();
  // Statements that begin from now on read the newest state.
  void Renew() { reading_.reset(); }
  // Returns the transaction that is under way, or begins one. Errors: kUnavailable if another
  // writer holds the collection for longer than `wait`.
  absl::StatusOr<std::shared_ptr<CollectionTransaction>> Begin(std::chrono::milliseconds wait);

 private:
  Collection collection_;
  std::weak_ptr<const CollectionSnapshot> reading_;
  std::weak_ptr<CollectionTransaction> transaction_;
};

// The collections that tables of one connection have open.
class SharedCollections {
 public:
  absl::StatusOr<std::shared_ptr<SharedCollection>> Open(const std::string& path);

 private:
  std::map<std::string, std::weak_ptr<SharedCollection>> open_;
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_TABLE_SHARED_COLLECTION_H_
