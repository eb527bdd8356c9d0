// Returns results from calls of the C API, and checks their pointers.
#ifndef CAIRN_ENGINE_C_API_RESULT_H_
#define CAIRN_ENGINE_C_API_RESULT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/types.h"
#include "engine/base/status.h"

namespace cairn::c_api {

// Fills `out` if there is one, and returns its code.
cairn_code Report(const absl::Status& status, cairn_status* out);

inline absl::Status NotNull(const void* pointer, const char* name) {
  if (pointer != nullptr) return absl::OkStatus();
  return InvalidArgument("%s is NULL", name);
}
#define CAIRN_REQUIRE(pointer) CAIRN_RETURN_IF_ERROR(cairn::c_api::NotNull(pointer, #pointer))

// Returns numbers, spans or names at `data`, which may be null if there are none.
template <typename T>
absl::StatusOr<std::span<const T>> ToSpan(const T* data, int64_t count, const char* name) {
  if (count < 0) return InvalidArgument("%s: expected 0 or more elements, got %d", name, count);
  if (data == nullptr && count > 0) return InvalidArgument("%s is NULL", name);
  return std::span<const T>(data, static_cast<size_t>(count));
}

inline absl::StatusOr<Bytes> ToBytes(const void* data, size_t size, const char* name) {
  if (data == nullptr && size > 0) return InvalidArgument("%s is NULL", name);
  return Bytes(static_cast<const std::byte*>(data), size);
}

inline absl::StatusOr<MutableBytes> ToMutableBytes(void* data, size_t size) {
  if (data == nullptr && size > 0) return InvalidArgument("dst is NULL");
  return MutableBytes(static_cast<std::byte*>(data), size);
}

// Runs `call`, which returns an absl::Status.
template <typename Call>
cairn_code Return(cairn_status* status, Call call) {
  return Report(call(), status);
}

// Runs `call`, which returns an absl::StatusOr, and stores its value, or a handle of it.
template <typename T, typename Call>
cairn_code ReturnValue(T* out, cairn_status* status, Call call) {
  auto result = call();
  if (!result.ok()) return Report(result.status(), status);
  *out = *std::move(result);
  return Report(absl::OkStatus(), status);
}

template <typename Handle, typename Call>
cairn_code ReturnHandle(Handle** out, const char* name, cairn_status* status, Call call) {
  if (out == nullptr) return Report(NotNull(out, name), status);
  *out = nullptr;
  auto result = call();
  if (!result.ok()) return Report(result.status(), status);
  *out = new Handle{*std::move(result)};
  return Report(absl::OkStatus(), status);
}

}  // namespace cairn::c_api

#endif  // CAIRN_ENGINE_C_API_RESULT_H_
