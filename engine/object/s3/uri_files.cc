#include "cairn/cairn_s3.h"
#include "cairn/files_handle.h"
#include "cairn/s3.h"

cairn_code cairn_uri_files_open(cairn_files** files, cairn_status* status) {
  return cairn::ReturnFiles(cairn::MakeUriFileSystem(cairn::S3OptionsFromEnvironment()), files,
                            status);
}
