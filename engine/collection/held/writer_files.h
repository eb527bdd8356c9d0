// A file system for the writers of members, which leave to the collection's writer what it does for
// all members together.
#ifndef CAIRN_ENGINE_COLLECTION_HELD_WRITER_FILES_H_
#define CAIRN_ENGINE_COLLECTION_HELD_WRITER_FILES_H_

#include <memory>

#include "cairn/file_system.h"

namespace cairn::collection {

// Returns the same files, in directories that list no names and are not synced.
//
// Whoever writes or makes a frame looks through its directory for files that dead writers left. For
// n members in one directory these would be n * n names. The writer of the collection looks once,
// when it opens; see FindAside.
//
// Whoever makes a frame syncs its directory. The writer of the collection does so once for all
// members that a commit adds. Whoever opens a frame syncs the directory, too, because the frame may
// have got its name from a writer that died. The ledger has the names of members until they are
// durable.
std::shared_ptr<FileSystem> FilesOfWriters(std::shared_ptr<FileSystem> files);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_HELD_WRITER_FILES_H_
