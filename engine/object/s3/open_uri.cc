// This file stands alone, so that programs that open no frame here, such as Python's module, link
// nothing of the engine.
#include <memory>
#include <string>

#include "cairn/s3.h"

namespace cairn {

absl::StatusOr<Frame> OpenUri(const std::string& uri, const OpenOptions& options) {
  OpenOptions in_uri = options;
  in_uri.file_system = MakeUriFileSystem(S3OptionsFromEnvironment());
  return Frame::Open(uri, in_uri);
}

}  // namespace cairn
