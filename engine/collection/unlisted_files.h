// A file system for the writers of members, which looks for no files beside them.
#ifndef CAIRN_ENGINE_COLLECTION_UNLISTED_FILES_H_
#define CAIRN_ENGINE_COLLECTION_UNLISTED_FILES_H_

#include <memory>

#include "cairn/file_system.h"

namespace cairn::collection {

// Returns the same files, in directories that list no names. Whoever writes or makes a frame looks
// through its directory for files that dead writers left. For n members in one directory these
// would be n * n names. The writer of the collection looks once, when it opens; see FindAside.
std::shared_ptr<FileSystem> WithoutListing(std::shared_ptr<FileSystem> files);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_UNLISTED_FILES_H_
