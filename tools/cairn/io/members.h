// Opens what a path of the command line names: a frame, or a member of a collection, such as
// weather.b2d/day/temp.
#ifndef CAIRN_TOOLS_CAIRN_IO_MEMBERS_H_
#define CAIRN_TOOLS_CAIRN_IO_MEMBERS_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "tools/members/place.h"

namespace cairn::tool {

using members::CollectionPlace;

// Returns where in a collection a path leads, or nothing if it leads to something else: a file, a
// sparse frame, an object.
std::optional<CollectionPlace> FindInCollection(const std::string& path);

// Returns the path of a member's file, for which a copy asks, or the path itself if it names none.
std::string FileAt(const std::string& path);

// Checks that a new frame at this path takes the place of no member, and has no path by which a
// command would look for one. Errors: kFailedPrecondition.
absl::Status CheckIsNoMember(const std::string& out);
// Checks that nothing at this path would have the name of a member. A collection may lie inside
// another one. Errors: kAlreadyExists.
absl::Status CheckHidesNoMember(const std::string& out);

// Opens a frame at a path, with the files that the path needs. Errors: kFailedPrecondition, with
// what to do, for a collection or a member; those of Frame::Open.
absl::StatusOr<Frame> OpenFrame(const std::string& path, OpenOptions options = {});

// Opens frames and members for reading. The members of a collection are all of one state.
class Sources {
 public:
  explicit Sources(OpenOptions options = {}) : options_(std::move(options)) {}

  // Opens a collection when it is first named. Its path says in which files it lies, unless the
  // options name some. A generation is the number of a commit.
  // Errors: those of Collection::Open; kFailedPrecondition if it is an increment.
  absl::StatusOr<CollectionSnapshot> OpenCollection(const std::string& path);
  // Does so for an increment, too.
  absl::StatusOr<CollectionSnapshot> OpenPacked(const std::string& path);
  // Returns what FindInCollection does. Tells groups from members in a store, too, and knows the
  // paths that Expand has made.
  std::optional<CollectionPlace> Find(const std::string& path);
  // Opens the state of a frame or a member. Errors: as for OpenFrame and
  // CollectionSnapshot::OpenMember; kInvalidArgument if the options of a member name another state.
  absl::StatusOr<Snapshot> Open(const std::string& path);
  // Returns the paths with each collection replaced by its ledger, the attributes of its groups and
  // its members, and each group by what it has of these. A collection that does not open stays, and
  // so does a store that is one file.
  std::vector<std::string> Expand(const std::vector<std::string>& paths);

 private:
  absl::StatusOr<Snapshot> OpenMember(const CollectionPlace& place);

  const OpenOptions options_;  // those of the files count for collections only
  std::map<std::string, CollectionSnapshot> collections_;
  std::map<std::string, CollectionPlace> expanded_;  // members, by their paths
};

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_MEMBERS_H_
