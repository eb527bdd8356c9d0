#include "tools/hdf5/library.h"

#include <dlfcn.h>
#include <string>

namespace cairn::hdf5 {

namespace {

// HDF5 calls plugins under its global lock, and asks for the functions first.
Library& Found() {
  static Library library;
  return library;
}

}  // namespace

const Library& Library::Get() { return Found(); }

void Library::Find(const void* caller) {
  Library& library = Found();
  if (library.complete()) return;
  Dl_info about{};
  if (dladdr(caller, &about) == 0) return;
  // A program that contains HDF5 has another name here than a library.
  void* handle = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) handle = dlopen(nullptr, RTLD_LAZY);
  if (handle == nullptr) return;
  bool all = true;
  const auto find = [&]<typename T>(const char* name, T& symbol) {
    symbol = reinterpret_cast<T>(dlsym(handle, name));
    all = all && symbol != nullptr;
  };
  find("H5Pget_filter_by_id2", library.get_filter);
  find("H5Pmodify_filter", library.modify_filter);
  find("H5Pget_chunk", library.get_chunk);
  find("H5Tget_size", library.get_size);
  find("H5Tget_class", library.get_class);
  find("H5Tget_super", library.get_super);
  find("H5Tclose", library.close_type);
  find("H5free_memory", library.free_memory);
  find("H5Epush2", library.push_error_);
  find("H5E_ERR_CLS_g", library.error_class_);
  find("H5E_PLINE_g", library.pipeline_);
  find("H5E_CALLBACK_g", library.callback_);
  if (all) find("H5allocate_memory", library.allocate_memory);
}

void Library::Report(const char* function, const absl::Status& status) const {
  push_error_(H5E_DEFAULT, __FILE__, function, __LINE__, *error_class_, *pipeline_, *callback_,
              "%s", std::string(status.message()).c_str());
}

}  // namespace cairn::hdf5
