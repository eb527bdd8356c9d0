// Files that a program reads and writes with functions of its own.
#ifndef CAIRN_ENGINE_BLOSC2_API_FILES_CALLBACK_FILES_H_
#define CAIRN_ENGINE_BLOSC2_API_FILES_CALLBACK_FILES_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Reads all of a file from `offset` on, through the functions that are registered for the id of
// `io`, into memory that the caller frees with free.
absl::StatusOr<MutableBytes> ReadFile(const std::string& path, const blosc2_io& io, int64_t offset);
// Replaces the content of a file, which need not exist.
absl::Status WriteFile(const std::string& path, const blosc2_io& io, Bytes content);

// Makes a file system with one directory, for reading. The functions copy each of its files into
// `memory` when it is opened for the first time. `io` must outlive the file system.
std::shared_ptr<FileSystem> MakeCopiedFolder(const std::string& path, const blosc2_io& io,
                                             std::shared_ptr<FileSystem> memory);
// Makes a file system that takes one directory, whose files `files` holds.
std::shared_ptr<FileSystem> MakeFolder(std::shared_ptr<FileSystem> files);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_FILES_CALLBACK_FILES_H_
