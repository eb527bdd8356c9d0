// Checks databases of SQLite, which may have parts next to their files.
#ifndef CAIRN_TOOLS_CAIRN_IO_DATABASE_PARTS_H_
#define CAIRN_TOOLS_CAIRN_IO_DATABASE_PARTS_H_

#include <string>

#include "absl/status/status.h"

namespace cairn::tool {

// Looks for a write-ahead log or a rollback journal, without which the file at `path` is not the
// database. Other files and inputs pass.
// Errors: kFailedPrecondition if there is one; kPermissionDenied if the file cannot be read.
absl::Status CheckHasNoPartsBeside(const std::string& path);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_DATABASE_PARTS_H_
