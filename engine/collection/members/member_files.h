// The names of members' files, which follow what the ledger has decided.
#ifndef CAIRN_ENGINE_COLLECTION_MEMBERS_MEMBER_FILES_H_
#define CAIRN_ENGINE_COLLECTION_MEMBERS_MEMBER_FILES_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/collection/ledger/ledger_codec.h"
#include "engine/collection/members/site.h"

namespace cairn::collection {

// Checks that no other program has put a file where a new member would have its own. The files of
// members that the next commit removes do not count. Errors: kAlreadyExists.
absl::Status CheckHasNoFile(const Site& site, std::string_view name, const MemberTable& removed);

// Puts the file of a member that was removed aside. Does nothing if it is there already, or not at
// its name.
absl::Status PutAside(const Site& site, std::string_view name, const MemberEntry& entry);
// Gives a file that lies aside the name of its member. Does nothing if none does.
absl::Status PlaceFile(const Site& site, std::string_view name, const MemberEntry& entry);

// Finds the files that lie aside. Follows no symbolic links, and enters no collection or TreeStore
// that lies inside this one.
absl::StatusOr<std::vector<std::string>> FindAside(const Site& site);
// Finds the files that look like members, but for those that lie aside, in the same way.
absl::StatusOr<std::vector<std::string>> FindMembers(const Site& site);
// Returns a file that looks like a member of the directory's collection, or nothing.
absl::StatusOr<std::optional<std::string>> FindAnyMember(const Site& site);
// Removes a file that lies aside, and its directory, and those above, if they are empty then.
absl::Status RemoveAside(const Site& site, const std::string& path);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_MEMBERS_MEMBER_FILES_H_
