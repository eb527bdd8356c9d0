#include "tools/cairn/io/files.h"

#include <memory>

#include "cairn/copy_files.h"

#ifdef CAIRN_TOOL_S3
#include "cairn/s3.h"
#endif

namespace cairn::tool {

#ifdef CAIRN_TOOL_S3

FileSystem* Files() {
  static const std::shared_ptr<FileSystem> files = MakeUriFileSystem(S3OptionsFromEnvironment());
  return files.get();
}

bool IsUri(const std::string& path) { return IsObjectUri(path); }

#else

FileSystem* Files() { return nullptr; }

bool IsUri(const std::string& /*path*/) { return false; }

#endif

FileSystem* FilesAt(const std::string& path) { return IsUri(path) ? Files() : PosixFileSystem(); }

std::shared_ptr<FileSystem> FilesForCopy(const std::string& from, const std::string& to) {
  if (!IsUri(from) && !IsUri(to)) return FilesForCopyOf(from);
  return {std::shared_ptr<void>(), FilesAt(to)};
}

std::optional<ObjectStoreStats> RequestsOf(const std::string& path) {
  if (!IsUri(path)) return std::nullopt;
  const std::shared_ptr<ObjectStore> store = Files()->ObjectsIn(path).store;
  return store != nullptr ? std::optional(store->stats()) : std::nullopt;
}

}  // namespace cairn::tool
