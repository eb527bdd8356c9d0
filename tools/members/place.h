// Finds the members of collections that paths lead to, such as weather.b2d/day/temp.
#ifndef CAIRN_TOOLS_MEMBERS_PLACE_H_
#define CAIRN_TOOLS_MEMBERS_PLACE_H_

#include <optional>
#include <string>

namespace cairn::members {

// The name of a collection's ledger.
inline constexpr char kLedger[] = "/embed.b2e";

// A place in a collection. In a store that is one file, all places but the whole seem to be
// members.
struct CollectionPlace {
  std::string collection;  // the path of its directory, or of the file of a store
  std::string name;        // of a member or a group, such as "/day/temp"; empty: the whole
  bool is_member = false;  // else a group, or the whole
};

// Returns where in a collection a path leads, or nothing if it leads to something else: a file, or
// a sparse frame. If one is there and the collection has a member of that name, too, the path leads
// to the member. A store of python-blosc2 that is packed into one file (.b2z) is a collection. So
// is one of embedded values (.b2e), but the path of the file itself leads to a frame.
std::optional<CollectionPlace> FindInCollection(const std::string& path);
// Returns true if a file is there whose name is that of a store, or a packed store of another name,
// such as an increment.
bool IsStoreFile(const std::string& path);

}  // namespace cairn::members

#endif  // CAIRN_TOOLS_MEMBERS_PLACE_H_
