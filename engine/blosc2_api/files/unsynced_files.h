// Files that are never synced, as in C-Blosc2.
#ifndef CAIRN_ENGINE_BLOSC2_API_FILES_UNSYNCED_FILES_H_
#define CAIRN_ENGINE_BLOSC2_API_FILES_UNSYNCED_FILES_H_

#include <memory>

#include "cairn/file_system.h"

namespace cairn::blosc2_api {

// Returns the files of the operating system without syncs. What is written survives the end of the
// process. A power cut may damage a frame.
std::shared_ptr<FileSystem> MakeUnsyncedFiles();

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_FILES_UNSYNCED_FILES_H_
