#include <utility>

#include "cairn/files_handle.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/result.h"

namespace cairn {

cairn_code ReturnFiles(absl::StatusOr<std::shared_ptr<FileSystem>> files, cairn_files** out,
                       cairn_status* status) {
  return c_api::ReturnHandle(out, "files", status, [&] { return std::move(files); });
}

}  // namespace cairn

void cairn_files_free(cairn_files* files) { delete files; }
