// The plugin for filter 32026 of HDF5, Blosc2.
#include <H5PLextern.h>
#include <algorithm>
#include <array>
#include <hdf5.h>
#include <vector>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "tools/hdf5/chunk_frame.h"
#include "tools/hdf5/library.h"
#include "tools/status.h"

namespace cairn::hdf5 {

namespace {

constexpr H5Z_filter_t kBlosc2 = 32026;

absl::Status Failed(const char* what) { return absl::InternalError(what); }

// Returns the bytes of the numbers in an item. For an array type these are its elements.
size_t TypesizeOf(const Library& library, hid_t type) {
  if (library.get_class(type) != H5T_ARRAY) return library.get_size(type);
  const hid_t element = library.get_super(type);
  if (element < 0) return 0;
  const size_t size = library.get_size(element);
  library.close_type(element);
  return size;
}

absl::Status Complete(const Library& library, hid_t properties, hid_t type) {
  constexpr size_t kMost = 64;
  std::array<unsigned, kMost> given{};
  unsigned flags = 0;
  size_t count = given.size();
  if (library.get_filter(properties, kBlosc2, &flags, &count, given.data(), 0, nullptr, nullptr) <
      0) {
    return Failed("cannot get the filter's parameters");
  }
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int ndim = library.get_chunk(properties, static_cast<int>(extents.size()), extents.data());
  const size_t item_size = library.get_size(type);
  const size_t typesize = TypesizeOf(library, type);
  if (ndim < 0 || item_size == 0 || typesize == 0) {
    return Failed("cannot get the shape of chunks and the size of items");
  }
  const std::vector<uint64_t> chunkshape(extents.begin(), extents.begin() + ndim);
  const std::vector<unsigned> parameters = CompleteParameters(
      Parameters(given).first(std::min(count, given.size())), typesize, item_size, chunkshape);
  if (library.modify_filter(properties, kBlosc2, flags, parameters.size(), parameters.data()) < 0) {
    return Failed("cannot set the filter's parameters");
  }
  return absl::OkStatus();
}

// Memory of HDF5, given back unless it is released.
class Buffer {
 public:
  explicit Buffer(const Library& library) : library_(library) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (memory_ != nullptr) library_.free_memory(memory_);
  }
  MutableBytes Allocate(size_t size) {
    memory_ = library_.allocate_memory(size, false);
    return {static_cast<std::byte*>(memory_), memory_ == nullptr ? 0 : size};
  }
  void Replace(void** buffer) { std::swap(*buffer, memory_); }

 private:
  const Library& library_;
  void* memory_ = nullptr;
};

absl::StatusOr<size_t> Code(const Library& library, bool decode, Parameters parameters,
                            size_t nbytes, size_t* capacity, void** buffer) {
  const Bytes from(static_cast<const std::byte*>(*buffer), nbytes);
  Buffer result(library);
  const auto allocate = [&](size_t size) { return result.Allocate(size); };
  ASSIGN_OR_RETURN(const MutableBytes made, decode ? DecodeChunk(from, parameters, allocate)
                                                   : EncodeChunk(from, parameters, allocate));
  result.Replace(buffer);
  *capacity = made.size();
  return made.size();
}

// Called by HDF5 when a data set is made.
herr_t SetLocal(hid_t properties, hid_t type, hid_t /*space*/) {
  const Library& library = Library::Get();
  if (!library.complete()) return -1;
  const absl::Status status = Complete(library, properties, type);
  if (!status.ok()) library.Report("cairn_set_local", status);
  return status.ok() ? 1 : -1;
}

// Called by HDF5 for each chunk. Returns the size of the result, or 0 for a failure.
size_t Run(unsigned flags, size_t count, const unsigned* values, size_t nbytes, size_t* capacity,
           void** buffer) {
  const Library& library = Library::Get();
  if (!library.complete()) return 0;
  const bool decode = (flags & H5Z_FLAG_REVERSE) != 0;
  const auto size = Code(library, decode, {values, count}, nbytes, capacity, buffer);
  if (!size.ok()) library.Report("cairn_filter", size.status());
  return size.ok() ? *size : 0;
}

constexpr H5Z_class2_t kClass = {H5Z_CLASS_T_VERS, kBlosc2, 1,        1,
                                 "blosc2: Cairn",  nullptr, SetLocal, Run};

}  // namespace

}  // namespace cairn::hdf5

H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }

const void* H5PLget_plugin_info(void) {
  cairn::hdf5::Library::Find(__builtin_return_address(0));
  return &cairn::hdf5::kClass;
}
