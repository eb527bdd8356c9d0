// A file system that shows one file with patches, for readers of a member that lacks them.
#ifndef CAIRN_ENGINE_COLLECTION_MEMBERS_PATCHED_FILES_H_
#define CAIRN_ENGINE_COLLECTION_MEMBERS_PATCHED_FILES_H_

#include <memory>
#include <string>
#include <vector>

#include "cairn/file_system.h"
#include "engine/collection/ledger/file_patch.h"

namespace cairn::collection {

// Shows the file at `path` with the patches, in order. Zeros are between its end and a patch that
// begins later.
std::shared_ptr<FileSystem> ShowPatched(std::shared_ptr<FileSystem> files, std::string path,
                                        std::vector<FilePatch> patches);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_MEMBERS_PATCHED_FILES_H_
