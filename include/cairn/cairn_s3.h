// S3 and web servers for programs in C99. This header belongs to the library libcairn_s3,
// `pkg-config cairn_s3`. See docs/object-stores.md.
#ifndef CAIRN_CAIRN_S3_H_
#define CAIRN_CAIRN_S3_H_

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes a file system in which s3://bucket/name leads to an object, and so does https://host/name
// or http://host/name for reading. All other paths lead to the files of the operating system. Makes
// no request. A program should share one such file system, because it keeps connections and what
// was read.
//
// The credentials, the region and the endpoint of s3:// come from the environment, as for other S3
// clients. Call it before other threads change the environment. If something is wrong there, the
// first call that needs it returns the error.
//
// Errors: CAIRN_INVALID_ARGUMENT if `files` is NULL.
CAIRN_EXPORT cairn_code cairn_uri_files_open(cairn_files** files, cairn_status* status);

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_CAIRN_S3_H_
