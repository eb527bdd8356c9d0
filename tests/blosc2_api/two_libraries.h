// C-Blosc2 itself and the library with its interface, in one program.
#ifndef CAIRN_TESTS_BLOSC2_API_TWO_LIBRARIES_H_
#define CAIRN_TESTS_BLOSC2_API_TWO_LIBRARIES_H_

#include <blosc2.h>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace cairn::blosc2_api {

// The functions of one of the libraries.
struct Library {
  decltype(&blosc2_create_cctx) create_cctx = nullptr;
  decltype(&blosc2_create_dctx) create_dctx = nullptr;
  decltype(&blosc2_free_ctx) free_ctx = nullptr;
  decltype(&blosc2_compress_ctx) compress = nullptr;
  decltype(&blosc2_decompress_ctx) decompress = nullptr;
  decltype(&blosc2_getitem_ctx) getitem = nullptr;
  decltype(&blosc2_cbuffer_sizes) sizes = nullptr;
  decltype(&blosc1_cbuffer_validate) validate = nullptr;

  // Loads a library by its path. Returns false if it lacks a function.
  bool Load(const char* path) {
    void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return false;
    const auto init = Find<decltype(&blosc2_init)>(handle, "blosc2_init");
    create_cctx = Find<decltype(create_cctx)>(handle, "blosc2_create_cctx");
    create_dctx = Find<decltype(create_dctx)>(handle, "blosc2_create_dctx");
    free_ctx = Find<decltype(free_ctx)>(handle, "blosc2_free_ctx");
    compress = Find<decltype(compress)>(handle, "blosc2_compress_ctx");
    decompress = Find<decltype(decompress)>(handle, "blosc2_decompress_ctx");
    getitem = Find<decltype(getitem)>(handle, "blosc2_getitem_ctx");
    sizes = Find<decltype(sizes)>(handle, "blosc2_cbuffer_sizes");
    validate = Find<decltype(validate)>(handle, "blosc1_cbuffer_validate");
    if (init == nullptr || create_cctx == nullptr || create_dctx == nullptr ||
        free_ctx == nullptr || compress == nullptr || decompress == nullptr || getitem == nullptr ||
        sizes == nullptr || validate == nullptr) {
      return false;
    }
    init();
    return true;
  }

 private:
  template <typename Function>
  static Function Find(void* handle, const char* name) {
    return reinterpret_cast<Function>(dlsym(handle, name));
  }
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_TESTS_BLOSC2_API_TWO_LIBRARIES_H_
