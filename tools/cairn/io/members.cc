#include "tools/cairn/io/members.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/io/files.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/suggestion.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

constexpr char kAttributes[] = "/__vlmeta__";  // of a group

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// Returns true if the path is that of a collection in an object store.
bool HasLedger(const std::string& path) {
  const std::shared_ptr<ObjectStore> ledger =
      FilesAt(path)->ObjectsIn(path + members::kLedger).store;
  return ledger != nullptr && ledger->Head("chunks.b2frame").ok();
}

// Returns where in a collection of an object store a path leads. The path tells it, so that frames
// take no requests more. Of collections inside others, the innermost one counts that is there.
std::optional<CollectionPlace> FindInStore(std::string path) {
  constexpr std::string_view kDirectory = ".b2d/";
  while (path.ends_with('/')) path.pop_back();
  const std::string whole = path + "/";
  const size_t first = whole.find(kDirectory);
  if (first == path.npos) return std::nullopt;
  size_t found = whole.rfind(kDirectory);
  while (found != first && !HasLedger(whole.substr(0, found + kDirectory.size() - 1))) {
    found = whole.rfind(kDirectory, found - 1);
  }
  const size_t end = found + kDirectory.size() - 1;
  const std::string name = path.substr(end);
  if (name == members::kLedger) return std::nullopt;
  return CollectionPlace{
      .collection = path.substr(0, end), .name = name, .is_member = !name.empty()};
}

// Refuses a place that is not a frame of its own.
absl::Status RefusePlace(const CollectionPlace& place) {
  if (place.is_member) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "a member of the collection %s, which this command does not take: programs change members, "
        "compact makes them shorter, and info, cat, copy, meta ls, meta get, backup and verify "
        "read "
        "them",
        place.collection));
  }
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s: name one of its members; 'cairn list %s' lists them, and 'cairn backup' copies all",
      place.name.empty() ? "a collection" : "a group of a collection", place.collection));
}

bool IsMember(const CollectionPlace& place) {
  const absl::StatusOr<Collection> collection =
      Collection::Open(place.collection, {.members = {.file_system = FilesAt(place.collection)}});
  return collection.ok() && collection->snapshot().HasMember(place.name);
}

bool IsGroup(const CollectionSnapshot& snapshot, const std::string& name) {
  return !snapshot.Members(name + "/").empty() || snapshot.HasMember(name + kAttributes);
}

// Refuses what holds changes of members, which must not be taken for their content.
absl::Status CheckIsNoIncrement(const CollectionSnapshot& snapshot) {
  const absl::StatusOr<IncrementInfo> info = snapshot.GetIncrementInfo();
  if (!info.ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("an increment of a collection, from commit %d to %d; 'cairn restore COPY "
                      "INCREMENT' applies it to a copy",
                      info->base_generation, info->result_generation));
}

absl::Status NoSuchMember(const CollectionPlace& place, const CollectionSnapshot& snapshot) {
  return absl::NotFoundError(
      absl::StrFormat("%s: no member %s%s; 'cairn list %s' lists them", place.collection,
                      place.name, SuggestOneOf(snapshot.Members(), place.name), place.collection));
}

}  // namespace

std::optional<CollectionPlace> FindInCollection(const std::string& path) {
  return IsUri(path) ? FindInStore(path) : members::FindInCollection(path);
}

std::string FileAt(const std::string& path) {
  if (IsUri(path)) return path;
  const std::optional<CollectionPlace> place = FindInCollection(path);
  if (!place.has_value() || !place->is_member) return path;
  if (members::IsStoreFile(place->collection)) return place->collection;
  for (const std::string& file : {path + ".b2nd", path + ".b2b"}) {
    if (Exists(file)) return file;
  }
  return path + ".b2f";
}

absl::Status CheckIsNoMember(const std::string& out) {
  std::string path = out;
  bool is_file = false;
  for (const std::string_view suffix : {".b2nd", ".b2f", ".b2b"}) {
    if (is_file || !path.ends_with(suffix)) continue;
    path.resize(path.size() - suffix.size());
    is_file = true;
  }
  const std::optional<CollectionPlace> place = FindInCollection(path);
  if (!place.has_value() || !place->is_member) return absl::OkStatus();
  // Another program may put a frame into a directory, with the name of a file.
  if (is_file && !IsUri(path) && !IsMember(*place)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "a path in the collection %s, where only programs add members: choose one outside of it",
      place->collection));
}

absl::Status CheckHidesNoMember(const std::string& out) {
  const std::optional<CollectionPlace> place = FindInCollection(out);
  if (!place.has_value() || !place->is_member || !IsMember(*place)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrFormat("%s: a member of the collection %s", out, place->collection));
}

absl::StatusOr<Frame> OpenFrame(const std::string& path, OpenOptions options) {
  if (const std::optional<CollectionPlace> place = FindInCollection(path); place.has_value()) {
    return RefusePlace(*place);
  }
  options.file_system = FilesAt(path);
  return Frame::Open(path, options);
}

std::optional<CollectionPlace> Sources::Find(const std::string& path) {
  if (const auto known = expanded_.find(path); known != expanded_.end()) return known->second;
  std::optional<CollectionPlace> place = FindInCollection(path);
  if (!IsUri(path) || !place.has_value() || !place->is_member) return place;
  // In a store the collection alone tells groups from members.
  const absl::StatusOr<CollectionSnapshot> snapshot = OpenCollection(place->collection);
  if (!snapshot.ok() || snapshot->HasMember(place->name)) return place;
  place->is_member = !IsGroup(*snapshot, place->name);
  return place;
}

absl::StatusOr<CollectionSnapshot> Sources::OpenCollection(const std::string& path) {
  ASSIGN_OR_RETURN(CollectionSnapshot snapshot, OpenPacked(path));
  const absl::Status is_state = CheckIsNoIncrement(snapshot);
  if (!is_state.ok()) return About(path, is_state);
  return snapshot;
}

absl::StatusOr<CollectionSnapshot> Sources::OpenPacked(const std::string& path) {
  if (const auto known = collections_.find(path); known != collections_.end()) {
    return known->second;
  }
  OpenOptions options = options_;
  if (options.file_system == nullptr) options.file_system = FilesAt(path);
  absl::StatusOr<Collection> collection = Collection::Open(path, {.members = options});
  if (!collection.ok()) return About(path, collection.status());
  if (!options_.generation.has_value()) {
    return collections_.emplace(path, collection->snapshot()).first->second;
  }
  ASSIGN_OR_RETURN(CollectionSnapshot commit, collection->OpenCommit(*options_.generation));
  return collections_.emplace(path, std::move(commit)).first->second;
}

absl::StatusOr<Snapshot> Sources::OpenMember(const CollectionPlace& place) {
  if (options_.durable_only || options_.offset != 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "each commit of the collection %s is durable, and begins its files: leave out --durable "
        "and --offset",
        place.collection));
  }
  ASSIGN_OR_RETURN(const CollectionSnapshot snapshot, OpenCollection(place.collection));
  if (!snapshot.HasMember(place.name)) return NoSuchMember(place, snapshot);
  const absl::StatusOr<Snapshot> member = snapshot.OpenMember(place.name);
  const bool is_store = members::IsStoreFile(place.collection);
  if (!absl::IsDataLoss(member.status()) || is_store) return member;
  return absl::DataLossError(absl::StrFormat(
      "%s; other members are read all the same, and a backup of the whole directory has them all",
      member.status().message()));
}

absl::StatusOr<Snapshot> Sources::Open(const std::string& path) {
  const std::optional<CollectionPlace> place = Find(path);
  if (place.has_value() && place->is_member) return OpenMember(*place);
  if (place.has_value()) {
    RETURN_IF_ERROR(OpenCollection(place->collection).status());
    return RefusePlace(*place);
  }
  OpenOptions options = options_;
  options.file_system = FilesAt(path);
  ASSIGN_OR_RETURN(const Frame frame, Frame::Open(path, options));
  return frame.snapshot();
}

std::vector<std::string> Sources::Expand(const std::vector<std::string>& paths) {
  std::vector<std::string> expanded;
  for (const std::string& path : paths) {
    const std::optional<CollectionPlace> place = Find(path);
    absl::StatusOr<CollectionSnapshot> snapshot = absl::NotFoundError("");
    const bool is_group = place.has_value() && !place->is_member;
    if (is_group && !members::IsStoreFile(path)) snapshot = OpenCollection(place->collection);
    if (!snapshot.ok()) {
      expanded.push_back(path);
      continue;
    }
    if (place->name.empty()) expanded.push_back(place->collection + members::kLedger);
    std::vector<std::string> names;
    for (const std::string& group : snapshot->Groups()) {
      const std::string name = (group == "/" ? "" : group) + kAttributes;
      const bool is_asked = name.starts_with(place->name + "/") && snapshot->HasMember(name);
      if (is_asked) names.push_back(name);
    }
    const std::vector<std::string> listed = snapshot->Members(place->name + "/");
    names.insert(names.end(), listed.begin(), listed.end());
    for (const std::string& name : names) {
      expanded.push_back(place->collection + name);
      // Whatever else has that path.
      expanded_[expanded.back()] = {
          .collection = place->collection, .name = name, .is_member = true};
    }
  }
  return expanded;
}

}  // namespace cairn::tool
