#include "tools/members/place.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include "absl/status/statusor.h"

#include "cairn/collection.h"

namespace cairn::members {

namespace {

constexpr char kIndex[] = "/chunks.b2frame";  // of a sparse frame

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

bool IsDirectory(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

constexpr std::string_view kPacked(".b2z");
constexpr std::string_view kZip("PK\003\004");  // the first bytes of a zip file

// Returns true if the file is a packed store whatever its name is, such as an increment.
bool IsPackedFile(const std::string& path) {
  std::string head(kZip.size(), ' ');
  std::ifstream(path, std::ios::binary).read(head.data(), std::ssize(head));
  if (head != kZip) return false;
  const absl::StatusOr<Collection> store = Collection::Open(path);
  return store.ok() && !store->snapshot().Members().empty();
}

// Returns true if the collection has a member of this name, wherever its file is.
bool HasMember(const std::string& collection, const std::string& name) {
  for (const std::string_view suffix : {".b2nd", ".b2f", ".b2b", ".b2e"}) {
    if (name.ends_with(suffix)) return false;  // the name of a file
  }
  const absl::StatusOr<Collection> opened = Collection::Open(collection);
  return opened.ok() && opened->snapshot().HasMember(name);
}

}  // namespace

bool IsStoreFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  return path.ends_with(kPacked) || path.ends_with(".b2e") || IsPackedFile(path);
}

std::optional<CollectionPlace> FindInCollection(const std::string& path) {
  std::string whole = path;
  while (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  const bool is_directory = IsDirectory(whole);
  const bool is_frame = is_directory ? Exists(whole + kIndex) : Exists(whole);
  if (!is_directory && is_frame && !whole.ends_with(".b2e") && IsStoreFile(whole)) {
    return CollectionPlace{.collection = whole, .name = {}};
  }
  size_t end = is_frame ? whole.rfind('/') : whole.size();
  for (; end != std::string::npos && end > 0; end = whole.rfind('/', end - 1)) {
    const std::string collection = whole.substr(0, end);
    if (Exists(collection + kIndex)) return std::nullopt;  // in a sparse frame
    if (!IsStoreFile(collection) && !Exists(collection + kLedger)) continue;
    const std::string name = whole.substr(end);
    if (is_frame && !HasMember(collection, name)) return std::nullopt;
    return CollectionPlace{
        .collection = collection, .name = name, .is_member = is_frame || !is_directory};
  }
  return std::nullopt;
}

}  // namespace cairn::members
