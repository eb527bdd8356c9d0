// The place of a collection, and the paths of its files.
#ifndef CAIRN_ENGINE_COLLECTION_MEMBERS_SITE_H_
#define CAIRN_ENGINE_COLLECTION_MEMBERS_SITE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/file_system.h"
#include "engine/collection/ledger/ledger_codec.h"
#include "engine/collection/members/known_objects.h"

namespace cairn::collection {

inline constexpr std::string_view kLedgerName("embed.b2e");

// Immutable, hence thread-safe.
struct Site {
  std::shared_ptr<FileSystem> files;
  std::string root;  // the directory
  CollectionOptions options;
  std::shared_ptr<KnownObjects> known = nullptr;  // null unless it is in an object store

  std::string LedgerPath() const { return root + "/" + std::string(kLedgerName); }
  std::string PathOf(std::string_view member, MemberKind kind) const;
  // A file that does not have its name yet, or no longer, lies aside: in the same directory, under
  // the id of the member.
  std::string AsidePath(std::string_view member, uint64_t id) const;

  OpenOptions MemberOptions() const;
};

// Returns true for names that AsidePath makes, and for those of files that a killed writer was
// making to have such a name.
bool IsAsideName(std::string_view name);

inline std::string_view DirectoryOf(std::string_view path) {
  return path.substr(0, path.rfind('/'));
}

// Returns true if the collection is in an object store.
bool IsInObjects(const Site& site);

// Checks that a new member may have the name. Errors: kAlreadyExists if it `is_there`;
// kInvalidArgument if no member can have it.
absl::Status CheckIsNew(const Site& site, std::string_view name, bool is_there);
// Returns that the directory has a ledger of its own.
absl::Status IsOfInner(std::string_view directory);
// Returns the kind of a member that is made with these options.
MemberKind KindOf(const CreateOptions& options);

absl::StatusOr<Site> MakeSite(const std::string& path, const CollectionOptions& options);

// Errors: kFailedPrecondition if the collection whose ledger is open was removed, or replaced by
// another one.
absl::Status CheckIsCurrent(const Site& site, const File& ledger);

// Returns that there is another collection than the one that was opened.
absl::Status IsAnother(const Site& site);

// Makes a directory of groups and those above it, down from the root, where they are missing, and
// makes their names durable. Errors: kFailedPrecondition if one of them has a ledger of its own.
absl::Status MakeDirectories(const Site& site, std::string_view directory);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_MEMBERS_SITE_H_
