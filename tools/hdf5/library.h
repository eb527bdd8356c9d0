// Finds the HDF5 library that has loaded the plugin.
#ifndef CAIRN_TOOLS_HDF5_LIBRARY_H_
#define CAIRN_TOOLS_HDF5_LIBRARY_H_

#include <hdf5.h>

#include "absl/status/status.h"

namespace cairn::hdf5 {

// The functions of an HDF5 library. A process may have several, such as those inside Python wheels,
// and their symbols may not be visible. So the plugin is linked with none, and asks the one that
// calls it.
class Library {
 public:
  // Finds the functions below in the library of the code at this address, or leaves them null.
  static void Find(const void* caller);
  static const Library& Get();

  bool complete() const { return allocate_memory != nullptr; }
  // Puts a failure on the library's stack of errors.
  void Report(const char* function, const absl::Status& status) const;

  decltype(&H5Pget_filter_by_id2) get_filter = nullptr;
  decltype(&H5Pmodify_filter) modify_filter = nullptr;
  decltype(&H5Pget_chunk) get_chunk = nullptr;
  decltype(&H5Tget_size) get_size = nullptr;
  decltype(&H5Tget_class) get_class = nullptr;
  decltype(&H5Tget_super) get_super = nullptr;
  decltype(&H5Tclose) close_type = nullptr;
  decltype(&H5free_memory) free_memory = nullptr;
  decltype(&H5allocate_memory) allocate_memory = nullptr;

 private:
  decltype(&H5Epush2) push_error_ = nullptr;
  const hid_t* error_class_ = nullptr;
  const hid_t* pipeline_ = nullptr;
  const hid_t* callback_ = nullptr;
};

}  // namespace cairn::hdf5

#endif  // CAIRN_TOOLS_HDF5_LIBRARY_H_
