// Finds what a path of the command line leads to: a file, or objects of a store if it is a URI.
#ifndef CAIRN_TOOLS_CAIRN_IO_FILES_H_
#define CAIRN_TOOLS_CAIRN_IO_FILES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cairn/object_store.h"

namespace cairn::tool {

// Returns true if the path is a URI of an object store.
bool IsUri(const std::string& path);

// Returns the file system of a path: the operating system's files, or for a URI those of object
// stores, whose settings are read then.
std::shared_ptr<FileSystem> FilesAt(const std::string& path);

// Returns the file system for a copy of the file at `from`. If both are files, the copy stays
// within its permissions.
std::shared_ptr<FileSystem> FilesForCopy(const std::string& from, const std::string& to);

// Returns the paths with each log of many files replaced by its frames, the oldest first. A file
// that is damaged is one of them, though the log may not open.
std::vector<std::string> FramesAt(const std::vector<std::string>& paths);

// Returns the bytes of disk that a file takes, or all files of a directory together. Returns
// nothing for objects in a store.
std::optional<int64_t> DiskBytesAt(const std::string& path);

// Returns the requests to the store of the path so far, or nothing for a file.
std::optional<ObjectStoreStats> RequestsOf(const std::string& path);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_FILES_H_
