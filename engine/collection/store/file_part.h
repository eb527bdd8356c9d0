// A file inside another one, while it is written.
#ifndef CAIRN_ENGINE_COLLECTION_STORE_FILE_PART_H_
#define CAIRN_ENGINE_COLLECTION_STORE_FILE_PART_H_

#include <cstdint>
#include <memory>

#include "cairn/file_system.h"

namespace cairn::collection {

// Returns a file system that can hold one file: the bytes of `whole` from `begin` on. One process
// makes that file, so it has no locks, and it is synced with the whole.
std::shared_ptr<FileSystem> MakePart(std::shared_ptr<File> whole, int64_t begin);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_STORE_FILE_PART_H_
