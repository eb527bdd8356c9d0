// The C API: threads, and the codecs and filters of a program. Include cairn/cairn.h.
#ifndef CAIRN_C_PLUGIN_H_
#define CAIRN_C_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#include "cairn/c_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// Threads that code the blocks of a chunk at the same time, instead of the calling thread alone.
typedef struct cairn_executor cairn_executor;
// Makes a pool of `threads` threads, including the caller. 0 means one per core, the maximum.
CAIRN_EXPORT cairn_code cairn_executor_make(int32_t threads, cairn_executor** executor,
                                            cairn_status* status);
CAIRN_EXPORT void cairn_executor_free(cairn_executor* executor);

// The parameters of a call to a plug-in.
typedef struct cairn_plugin_call {
  size_t struct_size;
  int32_t typesize;           // as in the chunk header: 1 to 255
  int32_t clevel;             // 1 to 9, for compression only
  int32_t meta;               // parameter byte of the codec or of the filter's slot
  const int32_t* blockshape;  // for codecs: items of a block in each dimension of an array
  int32_t ndim;               // 0: not an array
} cairn_plugin_call;

// A codec, called by several threads at once. What `context` points to must live as long as the
// registry and everything that was opened or made with it. If it returns an error, so does the call
// that codes.
typedef struct cairn_codec_plugin {
  size_t struct_size;
  // Sets *cbytes to the compressed size, or to 0 if the result would not fit into dst.
  cairn_code (*compress)(void* context, const cairn_plugin_call* call, const void* src,
                         size_t src_size, void* dst, size_t size, size_t* cbytes);
  // Fills dst completely.
  cairn_code (*decompress)(void* context, const cairn_plugin_call* call, const void* src,
                           size_t src_size, void* dst, size_t size);
  void* context;
} cairn_codec_plugin;

// A filter over one block of `size` bytes. src and dst do not overlap. It is called as a codec is.
typedef struct cairn_filter_plugin {
  size_t struct_size;
  cairn_code (*forward)(void* context, const cairn_plugin_call* call, const void* src, void* dst,
                        size_t size);
  cairn_code (*backward)(void* context, const cairn_plugin_call* call, const void* src, void* dst,
                         size_t size);
  void* context;
} cairn_filter_plugin;

// The codecs and filters of a program.
typedef struct cairn_registry cairn_registry;
CAIRN_EXPORT cairn_code cairn_registry_make(cairn_registry** registry, cairn_status* status);
// Add a plug-in under an id from 160 to 255. A codec may also have one from 36 to 159, where the
// format registers codecs that Cairn does not have. Errors: CAIRN_INVALID_ARGUMENT for another id;
// CAIRN_ALREADY_EXISTS if the id is taken, as 227 to 229 are by Cairn's codecs.
CAIRN_EXPORT cairn_code cairn_registry_add_codec(cairn_registry* registry, int32_t id,
                                                 const cairn_codec_plugin* codec,
                                                 cairn_status* status);
CAIRN_EXPORT cairn_code cairn_registry_add_filter(cairn_registry* registry, int32_t id,
                                                  const cairn_filter_plugin* filter,
                                                  cairn_status* status);
CAIRN_EXPORT void cairn_registry_free(cairn_registry* registry);

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_PLUGIN_H_
