// A member of a collection that has a writer.
#ifndef CAIRN_ENGINE_COLLECTION_HELD_MEMBER_H_
#define CAIRN_ENGINE_COLLECTION_HELD_MEMBER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "cairn/writer.h"
#include "engine/collection/held/held_file.h"
#include "engine/collection/ledger/collection_locks.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/members/site.h"

namespace cairn::collection {

// Not thread-safe. A destructor without Release drops what was prepared and staged.
class Member {
 public:
  // Opens the file of the member that is listed like this. Errors: kDataLoss if the file does not
  // hold what the ledger lists.
  static absl::StatusOr<std::unique_ptr<Member>> Open(const Site& site, std::string_view name,
                                                      const MemberEntry& entry,
                                                      std::shared_ptr<Retention> retention,
                                                      const WriterOptions& options);
  ~Member();

  const std::string& name() const { return name_; }
  const MemberEntry& entry() const { return entry_; }
  MemberKind kind() const { return entry_.kind; }
  Writer& writer() { return writer_; }
  // Returns what is committed.
  Snapshot snapshot() const { return frame_.snapshot(); }

  // Makes a commit of what is staged, and holds it back. Returns false if nothing is staged.
  absl::StatusOr<bool> Prepare();
  bool is_prepared() const { return is_prepared_; }
  bool needs_sync() const { return held_->needs_sync(); }
  absl::Status Sync() const { return held_->Sync(); }
  // Returns what was prepared, for the ledger.
  MemberPart PreparedPart() const;
  // Writes what was prepared, because the ledger has it.
  absl::Status Release();
  void Rollback();

  // Returns true if a checkpoint would be a new file, as that of a frame without items is.
  bool NeedsNewFile() const;
  // Writes a checkpoint if the journal is long, or if it is not empty and `always` is set. Does
  // nothing if that would be a new file.
  absl::Status CheckpointIfDue(bool always);
  // Returns the position if the ledger does not list it.
  std::optional<MemberPart> Unlisted() const;
  // Takes note that the commit lists the position.
  void NoteListed(uint64_t number);
  // Returns the number of the last commit that changed the position.
  uint64_t last_change() const { return last_change_; }

 private:
  Member(std::string name, MemberEntry entry, std::shared_ptr<Retention> retention,
         std::shared_ptr<HeldFile> held, Frame frame, Writer writer)
      : name_(std::move(name)),
        entry_(entry),
        retention_(std::move(retention)),
        held_(std::move(held)),
        frame_(std::move(frame)),
        writer_(std::move(writer)) {}

  const std::string name_;
  MemberEntry entry_;  // as the ledger lists it
  const std::shared_ptr<Retention> retention_;
  const std::shared_ptr<HeldFile> held_;
  Frame frame_;
  Writer writer_;
  bool is_prepared_ = false;
  uint64_t last_change_ = 0;
};

// Returns true if the error says that the file of a member is damaged, or gone.
bool IsDamageOf(const absl::Status& member);

// Writes again what the ledger has of the member's commits since its checkpoint, whether it seems
// to be there or not, and syncs the file at `path`: the disk may lack it. Does nothing if the file
// is gone.
absl::Status RedoMember(const Site& site, const std::string& path, std::string_view name,
                        const Ledger& ledger);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_HELD_MEMBER_H_
