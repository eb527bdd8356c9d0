// The C API, in C99, for programs in C and bindings of other languages. They include this header
// only; it includes its parts, cairn/c_*.h. C++ programs use the other headers.
//
// A call promises and costs what the C++ call of the same name does; the C++ headers say more.
//
// Results. A call that can fail returns a code, which is CAIRN_OK (0) for success, and fills
// `status`, its last parameter, which may be NULL. If a call fails, the handle that it would have
// returned is NULL, the content of `dst` is unspecified, and other outputs are unchanged.
//
// Errors that many calls return; each comment adds its own, and docs/c-api.md lists them by call:
//   CAIRN_INVALID_ARGUMENT if an argument is wrong, or NULL and may not be, or if a file is not a
//     Blosc2 frame.
//   CAIRN_DATA_LOSS if a frame or a chunk that the call reads is damaged.
//   CAIRN_UNIMPLEMENTED if this build lacks a codec, a filter or a version that the call needs.
//   CAIRN_RESOURCE_EXHAUSTED if a read would pass a limit, or if the disk is full.
//   CAIRN_PERMISSION_DENIED or CAIRN_INTERNAL if the operating system refuses or fails.
//   CAIRN_UNAVAILABLE or CAIRN_DEADLINE_EXCEEDED if an object store gives no answer in time.
//
// Handles are opaque. cairn_X_free frees a handle and accepts NULL. It waits for no call: make sure
// that no other thread still uses the handle. Snapshots, bytes and writers stay valid after their
// frame is freed, and all handles after their cairn_files, cairn_executor and cairn_registry are
// freed.
//
// Threads. All calls may run at the same time on the same handle, unless it is a writer. A writer
// belongs to one thread at a time, except for cairn_writer_sync. A registry must be filled before
// it is shared. Options are only read. There is no global state.
//
// Memory. Items and bytes are read into `dst` of `size` bytes, which the caller owns. They are
// written from `src`, which no call keeps. No call converts items to another byte order. Strings
// are UTF-8 or what the file system takes, and end with a zero byte. They belong to the handle or
// call that returned them.
//
// Structs that may grow begin with struct_size. Initialise options by their macro, and other
// structs by `{.struct_size = sizeof(TYPE)}`. The library reads and writes only the fields that the
// program was compiled with, and refuses unknown sizes. NULL options mean the defaults.
//
// Counts, positions and sizes in files are int64_t, and sizes in memory are size_t. Times are in
// milliseconds. -1 means unknown or absent, if the comment of a field says so.
//
// Callbacks get the `context` that was given with them. They run in the thread of the call, unless
// their comment says otherwise. They must neither throw nor jump out of the call.
#ifndef CAIRN_CAIRN_H_
#define CAIRN_CAIRN_H_

#include "cairn/c_chunk.h"
#include "cairn/c_collection.h"
#include "cairn/c_frame.h"
#include "cairn/c_plugin.h"
#include "cairn/c_repair.h"
#include "cairn/c_snapshot.h"
#include "cairn/c_types.h"
#include "cairn/c_writer.h"
#include "cairn/version.h"

#endif  // CAIRN_CAIRN_H_
