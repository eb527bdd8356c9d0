// A frame that is a value of another frame.
#ifndef CAIRN_ENGINE_COLLECTION_STORE_EMBEDDED_FILE_H_
#define CAIRN_ENGINE_COLLECTION_STORE_EMBEDDED_FILE_H_

#include <cstdint>
#include <memory>

#include "cairn/file_system.h"
#include "cairn/snapshot.h"

namespace cairn::collection {

// Returns a file system of one file, whatever its path, that can be read: the decoded bytes
// [begin, begin + size) of the store, which must exist. Nothing is decoded before it is read.
std::shared_ptr<FileSystem> ShowEmbedded(Snapshot store, int64_t begin, int64_t size);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_STORE_EMBEDDED_FILE_H_
