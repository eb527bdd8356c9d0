// S3 and web servers for programs in C: the library libcairn_s3, `pkg-config cairn_s3`. C99.
// See docs/object-stores.md.
#ifndef CAIRN_CAIRN_S3_H_
#define CAIRN_CAIRN_S3_H_

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

// Files in which s3://bucket/name and, for reading, https://host/name or http lead to objects, and
// other paths to the files of the operating system. Credentials, region and endpoint of s3:// come
// from the environment, as every S3 client takes them: call it before other threads change that.
// What is wrong there is the error of the first call that needs them. Makes no request. Programs
// share one: it keeps connections, and what was read.
CAIRN_EXPORT cairn_code cairn_uri_files_open(cairn_files** files, cairn_status* status);

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_CAIRN_S3_H_
