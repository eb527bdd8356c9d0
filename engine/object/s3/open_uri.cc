// This file stands alone, so that programs that open no frame here, such as Python's module, link
// nothing of the engine.
#include <memory>
#include <string>

#include "cairn/s3.h"

namespace cairn {

absl::StatusOr<Frame> OpenUri(const std::string& uri, const OpenOptions& options) {
  const std::shared_ptr<FileSystem> files = MakeUriFileSystem(S3OptionsFromEnvironment());
  OpenOptions in_uri = options;
  in_uri.file_system = files.get();
  return Frame::Open(uri, in_uri);
}

}  // namespace cairn
