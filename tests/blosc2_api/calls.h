// The functions of C-Blosc2's interface, as one of the libraries has them.
#ifndef CAIRN_TESTS_BLOSC2_API_CALLS_H_
#define CAIRN_TESTS_BLOSC2_API_CALLS_H_

#include <b2nd.h>
#include <blosc2.h>
#include <dlfcn.h>

namespace cairn::blosc2_api {

#define CAIRN_CALLS(X)               \
  X(blosc2_init)                     \
  X(blosc2_create_cctx)              \
  X(blosc2_create_dctx)              \
  X(blosc2_free_ctx)                 \
  X(blosc2_compress_ctx)             \
  X(blosc2_decompress_ctx)           \
  X(blosc2_getitem_ctx)              \
  X(blosc2_cbuffer_sizes)            \
  X(blosc1_cbuffer_validate)         \
  X(blosc2_chunk_zeros)              \
  X(blosc2_chunk_repeatval)          \
  X(blosc2_schunk_new)               \
  X(blosc2_schunk_copy)              \
  X(blosc2_schunk_open)              \
  X(blosc2_schunk_open_offset)       \
  X(blosc2_schunk_from_buffer)       \
  X(blosc2_schunk_to_buffer)         \
  X(blosc2_schunk_to_file)           \
  X(blosc2_schunk_append_file)       \
  X(blosc2_schunk_avoid_cframe_free) \
  X(blosc2_schunk_free)              \
  X(blosc2_schunk_lock)              \
  X(blosc2_schunk_unlock)            \
  X(blosc2_schunk_refresh)           \
  X(blosc2_schunk_append_buffer)     \
  X(blosc2_schunk_append_chunk)      \
  X(blosc2_schunk_insert_chunk)      \
  X(blosc2_schunk_update_chunk)      \
  X(blosc2_schunk_delete_chunk)      \
  X(blosc2_schunk_reorder_offsets)   \
  X(blosc2_schunk_fill_special)      \
  X(blosc2_schunk_decompress_chunk)  \
  X(blosc2_schunk_get_chunk)         \
  X(blosc2_schunk_get_lazychunk)     \
  X(blosc2_schunk_get_slice_buffer)  \
  X(blosc2_schunk_set_slice_buffer)  \
  X(blosc2_get_slice_nchunks)        \
  X(blosc2_meta_add)                 \
  X(blosc2_meta_update)              \
  X(blosc2_vlmeta_exists)            \
  X(blosc2_vlmeta_add)               \
  X(blosc2_vlmeta_update)            \
  X(blosc2_vlmeta_get)               \
  X(blosc2_vlmeta_delete)            \
  X(blosc2_vlmeta_get_names)         \
  X(b2nd_create_ctx)                 \
  X(b2nd_free_ctx)                   \
  X(b2nd_zeros)                      \
  X(b2nd_full)                       \
  X(b2nd_from_cbuffer)               \
  X(b2nd_to_cbuffer)                 \
  X(b2nd_from_schunk)                \
  X(b2nd_to_cframe)                  \
  X(b2nd_from_cframe)                \
  X(b2nd_open)                       \
  X(b2nd_save)                       \
  X(b2nd_free)                       \
  X(b2nd_copy)                       \
  X(b2nd_get_slice)                  \
  X(b2nd_get_slice_cbuffer)          \
  X(b2nd_set_slice_cbuffer)          \
  X(b2nd_resize)                     \
  X(b2nd_insert)                     \
  X(b2nd_append)                     \
  X(b2nd_delete)                     \
  X(b2nd_concatenate)                \
  X(b2nd_squeeze)                    \
  X(b2nd_get_orthogonal_selection)   \
  X(b2nd_set_orthogonal_selection)   \
  X(b2nd_get_sparse_cbuffer)

struct Calls {
#define CAIRN_DECLARE(name) decltype(&::name) name = nullptr;
  CAIRN_CALLS(CAIRN_DECLARE)
#undef CAIRN_DECLARE

  // Loads a library by its path. Returns false if it lacks a function.
  bool Load(const char* path) {
    void* const handle = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return false;
    bool complete = true;
#define CAIRN_FIND(name)                                            \
  name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name)); \
  complete = complete && name != nullptr;
    CAIRN_CALLS(CAIRN_FIND)
#undef CAIRN_FIND
    if (complete) blosc2_init();
    return complete;
  }
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_TESTS_BLOSC2_API_CALLS_H_
