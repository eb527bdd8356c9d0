// What a path of the command line leads to: a file, or objects of a store where it is a URI.
#ifndef CAIRN_TOOLS_CAIRN_IO_FILES_H_
#define CAIRN_TOOLS_CAIRN_IO_FILES_H_

#include <memory>
#include <optional>
#include <string>

#include "cairn/object_store.h"

namespace cairn::tool {

// Of all paths; it lives as long as the process. Null in a build without object stores.
FileSystem* Files();

// Whether the path is a URI of an object store.
bool IsUri(const std::string& path);

// Of one path: the operating system's files, unless it is a URI.
FileSystem* FilesAt(const std::string& path);

// For a copy of what is at `from`: within its permissions, where both are files.
std::shared_ptr<FileSystem> FilesForCopy(const std::string& from, const std::string& to);

// What the store of the path was asked so far; nothing for a file.
std::optional<ObjectStoreStats> RequestsOf(const std::string& path);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_FILES_H_
