// A member of a collection in an object store.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECTS_OBJECT_MEMBER_H_
#define CAIRN_ENGINE_COLLECTION_OBJECTS_OBJECT_MEMBER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/base/boot_clock.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/ledger/object_copy.h"
#include "engine/collection/members/site.h"
#include "engine/collection/objects/member_store.h"
#include "engine/frame/open/frame_core.h"

namespace cairn::collection {

// Opens a frame whose objects are shown by `objects`, in its newest state. No commit of its writers
// makes a checkpoint.
absl::StatusOr<std::shared_ptr<frame::FrameCore>> OpenCoreIn(const ObjectDirectoryInfo& objects,
                                                             const OpenOptions& options,
                                                             const std::string& path);

// Opens the frame of a member in the state that the ledger lists. Errors: kDataLoss if its index is
// missing, or if that and the records of the ledger do not lead to the state.
absl::StatusOr<std::shared_ptr<frame::FrameCore>> OpenListedMember(const Site& site,
                                                                   std::string_view name,
                                                                   const Ledger& ledger);
// Opens that state.
absl::StatusOr<Snapshot> OpenObjectMember(const Site& site, std::string_view name,
                                          const Ledger& ledger);

// An object that nobody else puts, unless with the same meaning. Replaces the one with the etag
// `if_match`, or none if that is empty.
struct NewObject {
  std::shared_ptr<ObjectStore> store;
  std::string name;
  std::vector<std::byte> bytes;
  std::string if_match = {};
};
// Puts objects that are not there yet, at the same time.
absl::Status PutAll(const std::vector<NewObject>& objects);

// Makes a member of a snapshot's content, to which no ledger leads. Completes the entry, and
// `frame`, the object for whoever opens the member alone: it is to be put once a ledger leads to
// the member. Errors: those of Frame::BeginCreate and of reading.
absl::Status CopyToNewObjects(const Site& site, std::string_view name, const Snapshot& from,
                              MemberEntry& entry, NewObject& frame);

// A member that has a writer. Not thread-safe.
class ObjectMember {
 public:
  // Opens the writer of a member as the ledger lists it. Errors: as for OpenObjectMember.
  static absl::StatusOr<std::unique_ptr<ObjectMember>> Open(const Site& site, std::string_view name,
                                                            const Ledger& ledger,
                                                            const WriterOptions& options);
  // Begins a new member.
  static absl::StatusOr<std::unique_ptr<ObjectMember>> Create(const Site& site,
                                                              std::string_view name,
                                                              const CreateOptions& options);

  const std::string& name() const { return name_; }
  // Returns what the ledger lists, or will list.
  const MemberEntry& entry() const { return entry_; }
  Writer& writer() { return writer_; }
  // Returns the state that the ledger has decided about, and that the writer has seen.
  Snapshot committed() const;

  // Makes the first checkpoint of a new member, whose index must be put then. Does nothing if that
  // was done. Its chunks are in the store, and nothing leads to them. Errors: kAborted if half of
  // the grace has passed since Create.
  absl::Status Begin(const WriterOptions& options);
  // Asks for the record of what is staged, and returns it for the ledger, or nothing if nothing is
  // staged. The edits are made on top of all records that are known. They stay staged. Errors:
  // kAborted if they do not fit there.
  absl::StatusOr<std::optional<MemberPart>> Ask();
  // Adds copies of the objects that the ledger's commit of `part` needs: small chunks.
  void AddCopies(const Site& site, const MemberPart& part, ObjectCopies& copies) const;
  // Adds copies of the objects of the newest checkpoint: its index, and its small chunks if
  // `with_chunks` is true.
  void AddCopiesOfCheckpoint(const Site& site, bool with_chunks, ObjectCopies& copies) const;
  // Returns the numbers of the chunk files of the committed state.
  std::set<uint64_t> ChunkFiles() const;
  // Commits what was asked for, because the ledger has it.
  absl::Status Take(const MemberPart& part);
  // Takes note that the ledger has the commit that a checkpoint needed.
  void NoteListed(const Position& position) { entry_.position = position; }
  // Takes note of what the ledger has. What is staged waits for Ask to be made on top of it.
  void Follow(const MemberEntry& entry, std::vector<FilePatch> records);
  // Drops what is staged, and moves on to what the ledger has.
  absl::Status Restart();

  // Leaves the chunks of what is staged in the store, because nobody knows whether the ledger has
  // the commit. Nothing may be called then.
  void Abandon() { shown_->Set(MemberStore::Puts::kAbandoned); }

  // Makes a checkpoint of the committed state. Returns the commit that it needs before, if some
  // items fill no chunk, for the ledger. Nothing may be staged.
  absl::StatusOr<std::optional<MemberPart>> Checkpoint();
  // Returns the index of the newest checkpoint, which is to be put. Errors: kUnavailable if that is
  // not a checkpoint of the listed state.
  absl::StatusOr<NewObject> IndexObject() const;
  // Puts that index as the one of a frame, too, for whoever opens the member alone.
  absl::Status Publish();
  // Does so for several members at the same time. Nothing depends on it, so errors are not told.
  static void PublishAll(std::span<ObjectMember* const> members);

 private:
  ObjectMember(std::string name, MemberEntry entry, ObjectDirectoryInfo objects, std::string path,
               std::shared_ptr<MemberStore> shown, OpenOptions opening,
               std::shared_ptr<frame::FrameCore> core, Writer writer)
      : name_(std::move(name)),
        entry_(entry),
        objects_(std::move(objects)),
        path_(std::move(path)),
        shown_(std::move(shown)),
        opening_(std::move(opening)),
        core_(std::move(core)),
        writer_(std::move(writer)) {}

  absl::StatusOr<MemberPart> PartOf(std::vector<FilePatch> records) const;
  absl::StatusOr<NewObject> FrameObject();

  const std::string name_;
  MemberEntry entry_;
  const ObjectDirectoryInfo objects_;  // as they are in the store
  const std::string path_;
  const std::shared_ptr<MemberStore> shown_;
  const OpenOptions opening_;
  std::shared_ptr<frame::FrameCore> core_;
  Writer writer_;
  const BootClock::time_point made_ = BootClock::now();
  bool is_begun_ = true;  // false for a new member without a checkpoint
  // The etag of the frame for those who open the member alone: empty if there should be none, and
  // nothing if that is not known.
  std::optional<std::string> frame_etag_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECTS_OBJECT_MEMBER_H_
