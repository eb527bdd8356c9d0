// Collection: a directory of frames that change together. One commit changes any number of them,
// and readers see all of it or nothing.
//
//   auto collection = cairn::Collection::Create("weather.b2d");
//   auto writer = collection->OpenWriter();
//   auto temp = writer->Add("/day/temp", {.array = {{.shape = {0, 180}, .dtype = "<f4"}}, …});
//   temp->AppendSlices(0, day);
//   writer->Commit();
//
// The members are ordinary frames: NAME.b2nd for an array, NAME.b2f for any other. Any Blosc2
// library reads what Close leaves, and python-blosc2 opens the directory as a TreeStore. In an
// object store, which `members.file_system` leads to, any number of programs write a collection at
// the same time. See docs/collections.md.
#ifndef CAIRN_COLLECTION_H_
#define CAIRN_COLLECTION_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/copy.h"
#include "cairn/member_writer.h"
#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "cairn/verify.h"

namespace cairn {

namespace collection {
class CollectionCore;
class MembersWriter;
class View;
}  // namespace collection

// Options of Collection::Open and Collection::Create.
struct CollectionOptions {
  // How members are opened. `offset`, `durable_only` and `generation` are not used.
  OpenOptions members = {};
};

// Options of Collection::OpenWriter.
struct CollectionWriterOptions {
  // Time to wait for another writer. After it, the call returns kUnavailable.
  std::chrono::milliseconds wait{0};
  // Lets other writers that share the collection write it at the same time, and not only one. Each
  // holds the members that it edits, removes or copies until its next Commit or Rollback, and no
  // others: a call that needs a member of another one waits, too, and then returns kUnavailable. So
  // does OpenWriter if a writer has the collection that does not share it. In an object store all
  // writers share it, and hold nothing.
  bool shared = false;
  // Number of commits before the newest that are kept for Collection::History and OpenCommit. The
  // space of older ones is used again as soon as no reader sees them. Commits that change no
  // content do not count: those of Close, and of Compact. The collection remembers the number, and
  // so does a copy of it in a directory: the default is that of the writer before, and 0 at first.
  // A smaller number takes effect when the writer opens. Only 0 is possible in an object store,
  // where snapshots can be read for the grace.
  std::optional<uint64_t> keep_commits = {};
  // How members are written. `wait`, `opening`, `keep_generations` and `max_file_size` are not
  // used.
  WriterOptions members = {};
};

// Describes a commit of a collection.
struct CommitInfo {
  uint64_t number = 0;
  // The members that it added, removed and changed, in order. A member that was replaced is added
  // and removed, and one that was only compacted is not listed. The oldest commit that is kept
  // lists none.
  std::vector<std::string> added = {};
  std::vector<std::string> removed = {};
  std::vector<std::string> changed = {};
  std::vector<std::string> attributes = {};  // the groups whose attributes it changed
  bool operator==(const CommitInfo&) const = default;
};

// Reports what Collection::Recover did.
struct CollectionRecovery {
  bool ledger_lost = false;  // there is a new ledger, of what the members hold by themselves
  // Members that are listed as their files are: those that were changed outside the collection, or
  // put there by others, or all of a new ledger.
  std::vector<std::string> adopted = {};
  std::vector<std::string> missing = {};  // members without a file, which are removed
  // Files that cannot be members, such as links and sparse frames, and why: "/day/temp: …". They
  // are left as they are.
  std::vector<std::string> unreadable = {};
  bool operator==(const CollectionRecovery&) const = default;
};

// A committed state of all members, which no later commit changes. Thread-safe and cheap to copy.
// While it exists, writers keep what its members need, opened or not. In an object store they keep
// it for the time of ObjectFileOptions::grace.
class CAIRN_EXPORT CollectionSnapshot {
 public:
  // Returns the number of the commit: each commit has that of the one before, plus one.
  [[nodiscard]] uint64_t number() const;
  // Returns the names of the members that begin with `prefix`, in order. Those that hold attributes
  // of groups are left out.
  [[nodiscard]] std::vector<std::string> Members(std::string_view prefix = "/") const;
  [[nodiscard]] bool HasMember(std::string_view name) const;
  // Opens a member in this state.
  //
  // Errors:
  //   kNotFound if there is no member of that name.
  //   kDataLoss if its file was removed, changed or restored outside the collection, or if a
  //     metalayer is not the one that was sealed.
  //   kFailedPrecondition if this is an increment, which may hold a part of the member.
  //   those of Frame::Open.
  absl::StatusOr<Snapshot> OpenMember(std::string_view name) const;

  // Returns the groups that have members, or have had attributes, in order. The first is "/".
  [[nodiscard]] std::vector<std::string> Groups() const;
  // Opens the attributes of a group, such as "/" or "/day": the vlmetalayers of the snapshot.
  // Errors: kNotFound if it has none; else as for OpenMember.
  absl::StatusOr<Snapshot> OpenAttributes(std::string_view group) const;

  // Copies this state to a new collection at `path`, also while a writer uses this one. The copy
  // appears when it is complete and durable. An empty directory that is there already is filled in
  // its place, and has no ledger until then. If `path` ends with ".b2z", the copy is a packed
  // store, a zip file that a TreeStore opens. The copy of a packed store is a collection again.
  //
  // Of copies that are made to one path at the same time, one stands, and the others leave it
  // alone. What a copy that was killed has left is in nobody's way. The next copy removes it, or in
  // an object store a writer of the collection, after ObjectFileOptions::grace.
  //
  // Errors, after which nothing is left: kAlreadyExists if `path` is not an empty directory or
  // nothing, or if another copy to it is being made; kInvalidArgument if a store has a name that no
  // member can have; kDeadlineExceeded if it is unknown whether an object store has the copy; those
  // of OpenMember and Snapshot::CopyTo.
  absl::Status CopyTo(const std::string& path) const;
  // Returns a hash of the names and the contents of all members; see Snapshot::ContentHash. Equal
  // collections have equal hashes. Reads the tables of all members, and not their chunks.
  // Errors: those of OpenMember and Snapshot::ContentHash.
  absl::StatusOr<uint64_t> ContentHash() const;
  // Writes what is new since `since` as a packed file at `path`, also while a writer uses this
  // collection. `since` is an older state, or a state of a copy. Collection::ApplyIncrement brings
  // any collection with the content of `since` up to this state. A member that no increment leads
  // to is stored as a whole.
  // Errors, after which nothing is left: those of CopyTo; kFailedPrecondition if `since` is an
  // increment; kUnimplemented if `path` is in an object store.
  absl::Status WriteIncrement(const std::string& path, const CollectionSnapshot& since) const;
  // Describes the increment that this is, with numbers of commits as generations. Nothing else of
  // an increment can be read, but Verify checks it.
  // Errors: kFailedPrecondition if it is none; kDataLoss if the description is damaged.
  absl::StatusOr<IncrementInfo> GetIncrementInfo() const;
  // Verifies the ledger, as it is now, and all members. A section of the report begins with the
  // name of the member, as in "/day/temp: chunk 3", or is that name if the file cannot be opened.
  // `options.progress` gets the chunks of all frames together.
  // Errors: kCancelled as for Snapshot::Verify; those of OpenMember, but for damage.
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options = {}) const;

  // Returns true if both are the same state, seen through the same Collection.
  bool operator==(const CollectionSnapshot& other) const { return view_ == other.view_; }

 private:
  friend class Collection;
  friend class CollectionWriter;
  explicit CollectionSnapshot(std::shared_ptr<const collection::View> view);

  std::shared_ptr<const collection::View> view_;
};

// Stages edits of any number of members, which no reader sees, and commits them all at once.
// Movable and not thread-safe. The destructor drops staged edits.
//
// After a failed write or sync, every call returns kFailedPrecondition, and the outcome of the
// commit under way is unknown until the collection is opened again. In an object store this is so
// after a Commit that returned kDeadlineExceeded or kCancelled.
class CAIRN_EXPORT CollectionWriter {
 public:
  CollectionWriter(CollectionWriter&&) noexcept;
  CollectionWriter& operator=(CollectionWriter&&) noexcept;
  ~CollectionWriter();

  // Returns the writer that stages edits of a member. It is valid until the collection's next
  // Commit, Rollback or Close.
  //
  // Errors: kNotFound if there is no such member, or if it is removed in this commit; kUnavailable
  // if a writer has the member's file open by itself; kResourceExhausted if the process may not
  // open this many files, after which the rest can still be committed; kDataLoss as for
  // CollectionSnapshot::OpenMember.
  absl::StatusOr<MemberWriter> Edit(std::string_view name);
  // Stages a new member, and returns the writer of its content. `options.layout`, `overwrite` and
  // `file_system` are not used.
  //
  // Errors:
  //   kAlreadyExists if there is a member of that name, or of this commit, or if another program
  //     has put a file in its place, which Collection::Recover makes a member.
  //   kInvalidArgument if the name is none: a slash stands before each part, and no part begins
  //     with a dot.
  //   kFailedPrecondition if its directory belongs to another collection or TreeStore, which lies
  //     inside this one.
  //   kResourceExhausted as for Edit.
  //   those of Frame::BeginCreate.
  absl::StatusOr<MemberWriter> Add(std::string_view name, const CreateOptions& options);
  // Stages the removal of a member. Another one may be added under its name in the same commit.
  // Errors: kNotFound as for Edit.
  absl::Status Remove(std::string_view name);
  // Stages a copy of a member's committed state under another name. Chunks are verified but not
  // compressed again.
  // Errors: kNotFound as for Edit; kAlreadyExists and kInvalidArgument as for Add;
  // kFailedPrecondition if the member is new or edited in this commit; those of Snapshot::CopyTo.
  absl::Status Copy(std::string_view from, std::string_view to);
  // Stages the move of a member to another name, as by Copy and Remove. Older snapshots keep it
  // under its old name. Errors: as for Copy.
  absl::Status Move(std::string_view from, std::string_view to);
  // Stages a copy of a member, without its dead bytes, that takes its place. Older snapshots keep
  // the old file until they are gone. In an object store, lets the next commit collect the garbage
  // of the whole collection instead. Errors: as for Copy.
  absl::Status Compact(std::string_view name);
  // Returns the writer of a group's attributes, such as those of "/" or "/day": its vlmetalayers.
  // python-blosc2 shows them as the `vlmeta` of the group. Errors: as for Add and Edit.
  absl::StatusOr<MemberWriter> EditAttributes(std::string_view group);

  // Makes all staged edits visible and durable, or none of them, and returns the number of the
  // commit. Does nothing if nothing is staged.
  //
  // Small edits of any number of members take one sync. Members that get more than 64 KiB are
  // synced before that, at the same time.
  //
  // Errors, after which nothing is committed and nothing is staged any more: kResourceExhausted if
  // the disk is full or a limit is passed; those of Writer::Prepare. After any other error the
  // writer stops.
  //
  // Errors of a writer that shares the collection, after which nothing is committed and all is
  // still staged: kAborted if another writer has added a member of the same name: roll back, and
  // stage the edits again; kUnavailable if others keep it from committing.
  //
  // Errors in an object store, after which nothing is committed and all is still staged: kAborted
  // if another writer's commit came before that changes the same, or if edits were staged for more
  // than half of the grace: roll back, and stage the edits again; kUnavailable if the store gave no
  // answer; others of Writer::Commit.
  absl::StatusOr<uint64_t> Commit();
  // Drops all staged edits. In an object store, moves on to the newest commit.
  void Rollback();
  // Returns true if another writer waits for the collection. Takes one system call.
  absl::StatusOr<bool> HasWaiters() const;
  // Commits, leaves complete checkpoints of all members, so that other Blosc2 libraries see
  // everything, and releases the collection. Every later call fails. A member that is damaged or
  // missing keeps none of the others from being completed. In an object store, commits, and lets
  // the next ones who open read fewer commits, if 16 or more were made since the last time.
  // Errors: as for Commit; kDataLoss, kInvalidArgument or kNotFound for such a member.
  absl::Status Close();

 private:
  friend class Collection;
  explicit CollectionWriter(std::unique_ptr<collection::MembersWriter> core);

  std::unique_ptr<collection::MembersWriter> core_;
};

// Opens, creates and watches one collection. Movable and thread-safe. Snapshots and writers may
// outlive it.
class CAIRN_EXPORT Collection {
 public:
  Collection(Collection&&) noexcept;
  Collection& operator=(Collection&&) noexcept;
  ~Collection();

  // Opens the collection in the directory at `path`, or a store of python-blosc2 for reading: the
  // directory of a TreeStore or DictStore, a store that is packed into a file (.b2z), or an
  // EmbedStore (.b2e).
  //
  // Errors:
  //   kNotFound if no collection is there.
  //   kInvalidArgument if the file at `path` is no store.
  //   kDataLoss if the ledger, or the list of a store, is damaged.
  static absl::StatusOr<Collection> Open(const std::string& path,
                                         const CollectionOptions& options = {});
  // Creates an empty collection, and the directory at `path` if there is none.
  //
  // Errors:
  //   kAlreadyExists if a collection or a TreeStore is there.
  //   kFailedPrecondition if frames are there without a ledger, also in subdirectories.
  //   kUnimplemented if the file system has no directories and is not one of an object store.
  static absl::StatusOr<Collection> Create(const std::string& path,
                                           const CollectionOptions& options = {});

  // Makes the ledger and the members in the directory at `path` agree again. Use it after members
  // were restored from different backups, removed or changed by other programs, or when the ledger
  // is gone or damaged. Each member is then listed as its file is, which need not be one state of
  // all of them; CopyTo and backups of the whole directory are. Frames that others have put into
  // the directory become members. In a collection in which nothing differs no commit is made.
  //
  // Without the ledger, a frame of which only the ledger knew whether it was removed or new is
  // listed as "/found/" and 16 hexadecimal digits. A damaged ledger stays beside the new one, under
  // a name that ends with ".damaged".
  //
  // Errors: kNotFound if no member is there; kFailedPrecondition for a store of python-blosc2;
  // kUnavailable if the collection has a writer, or if readers hold what would change;
  // kUnimplemented in an object store.
  static absl::StatusOr<CollectionRecovery> Recover(const std::string& path,
                                                    const CollectionOptions& options = {});

  // Returns the newest state that this handle has seen.
  [[nodiscard]] CollectionSnapshot snapshot() const;
  // Looks for newer commits, and returns the newest state. Never waits for a writer.
  // Errors: as for Open; kFailedPrecondition if the collection was removed, also if another one has
  // its place.
  absl::StatusOr<CollectionSnapshot> Refresh();

  // Returns the commits that are kept, the oldest first. The last is the newest. Of commits that
  // change no content, which Close and Compact make, the list has the newest commit at most. See
  // CollectionWriterOptions::keep_commits.
  // Errors: as for Refresh; kUnimplemented in an object store; kFailedPrecondition for a store of
  // python-blosc2, which has no commits.
  absl::StatusOr<std::vector<CommitInfo>> History();
  // Returns the state after a commit. It does not become older while the snapshot exists. The
  // number of a commit that changed no content leads to the commit before, whose number the
  // snapshot then has.
  // Errors: kNotFound if the commit is not kept; those of History.
  absl::StatusOr<CollectionSnapshot> OpenCommit(uint64_t number);

  // Gives the collection the content of the state that an increment was made of, in one commit.
  // Returns false, and does nothing, if it has that content, so an interrupted restore can be
  // repeated. Both contents are checked before the commit. If other writers commit in an object
  // store meanwhile, the check is made again: kAborted after eight times.
  //
  // Errors, after which nothing is committed: kFailedPrecondition if the collection does not have
  // the content that the increment applies to, or if `increment` is not an increment; those of
  // OpenWriter, CollectionWriter::Commit and Writer::ApplyIncrement.
  absl::StatusOr<bool> ApplyIncrement(const CollectionSnapshot& increment,
                                      const CollectionWriterOptions& options = {});

  // Returns false for a store of python-blosc2. Cairn only reads it: it has no commits, and whoever
  // changes it meanwhile may change what a snapshot shows. Its number is 0.
  [[nodiscard]] bool has_ledger() const;

  // Opens the only writer of the collection, or one of many in an object store. It completes what a
  // writer that was killed had committed.
  //
  // Errors: kUnavailable if another writer has the collection for longer than `options.wait`;
  // kFailedPrecondition if it has no ledger; kDataLoss if the ledger or a member that must be
  // completed is damaged.
  absl::StatusOr<CollectionWriter> OpenWriter(const CollectionWriterOptions& options = {});

 private:
  explicit Collection(std::shared_ptr<collection::CollectionCore> core);

  std::shared_ptr<collection::CollectionCore> core_;
};

}  // namespace cairn

#endif  // CAIRN_COLLECTION_H_
