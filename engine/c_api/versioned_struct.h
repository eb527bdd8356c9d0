// Structs of the C API that may grow. The library takes and gives the version of them that the
// program was compiled with.
//
// A version is known by its size. A new field goes to the end and makes the struct larger (mind the
// padding). The offset of the field, where the version before it ends, becomes the next of kSizes.
#ifndef CAIRN_ENGINE_C_API_VERSIONED_STRUCT_H_
#define CAIRN_ENGINE_C_API_VERSIONED_STRUCT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/status.h"

namespace cairn::c_api {

// The sizes of all versions. A struct that has grown specializes this.
template <typename T>
struct StructVersions {
  static constexpr std::array<size_t, 1> kSizes = {sizeof(T)};
};

template <typename T>
absl::Status CheckStruct(const T* given, const char* name) {
  if (given == nullptr) return InvalidArgument("%s is NULL", name);
  if (std::ranges::count(StructVersions<T>::kSizes, given->struct_size) == 1) {
    return absl::OkStatus();
  }
  return InvalidArgument("%s: struct_size %d is not the size of a known version; this one has %d",
                         name, given->struct_size, sizeof(T));
}

// Copies the part of `from` after struct_size that the first `size` bytes of the struct hold.
template <typename T>
void CopyFields(const T& from, size_t size, T& to) {
  static_assert(offsetof(T, struct_size) == 0);
  const auto bytes = std::as_bytes(std::span(&from, 1));
  const auto fields = bytes.first(size).subspan(sizeof(size_t));
  std::ranges::copy(fields, std::as_writable_bytes(std::span(&to, 1)).begin() + sizeof(size_t));
}

// Returns the fields that the program knows. The others are those of `defaults`, and so are all of
// them if it gave none.
template <typename T>
absl::StatusOr<T> ReadStruct(const T* given, const T& defaults, const char* name) {
  T read = defaults;
  if (given == nullptr) return read;
  CAIRN_RETURN_IF_ERROR(CheckStruct(given, name));
  CopyFields(*given, given->struct_size, read);
  return read;
}

// Gives the program the fields that it knows. `out` was checked.
template <typename T>
void WriteStruct(const T& value, T* out) {
  CopyFields(value, out->struct_size, *out);
}

// Checks a report that the program may leave out.
template <typename T>
absl::Status CheckReport(const T* report) {
  return report == nullptr ? absl::OkStatus() : CheckStruct(report, "report");
}

template <typename T>
void WriteReport(const T& value, T* report) {
  if (report != nullptr) WriteStruct(value, report);
}

}  // namespace cairn::c_api

#endif  // CAIRN_ENGINE_C_API_VERSIONED_STRUCT_H_
