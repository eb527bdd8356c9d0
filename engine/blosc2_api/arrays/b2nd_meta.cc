// The metalayer that describes an n-dimensional array.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/blosc2_api/chunks/array_shape.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

template <typename T>
void Put(std::vector<std::byte>& out, uint8_t marker, T value) {
  out.push_back(std::byte{marker});
  out.resize(out.size() + sizeof(T));
  StoreBe(&out[out.size() - sizeof(T)], value);
}

template <typename T>
void PutList(std::vector<std::byte>& out, int ndim, uint8_t marker, const T* numbers) {
  constexpr int kArray = 0x90;
  out.push_back(static_cast<std::byte>(kArray + ndim));
  for (int i = 0; i < ndim; ++i) Put(out, marker, numbers[i]);
}

template <typename T>
std::string Join(const T* numbers, int ndim) {
  std::string text;
  for (int i = 0; i < ndim; ++i) text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return text;
}

}  // namespace

}  // namespace cairn::blosc2_api

int b2nd_serialize_meta(int8_t ndim, const int64_t* shape, const int32_t* chunkshape,
                        const int32_t* blockshape, const char* dtype, int8_t dtype_format,
                        uint8_t** smeta) {
  namespace api = cairn::blosc2_api;
  const std::string_view type = dtype != nullptr ? dtype : B2ND_DEFAULT_DTYPE;
  if (dtype_format < 0 || ndim < 0 || ndim > B2ND_MAX_DIM ||
      type.size() > std::numeric_limits<int32_t>::max()) {
    return api::Failed(BLOSC2_ERROR_FAILURE, "array: dtype or dimensions are out of range");
  }
  constexpr uint8_t kInt64 = 0xd3;
  constexpr uint8_t kInt32 = 0xd2;
  constexpr uint8_t kString = 0xdb;
  std::vector<std::byte> out = {std::byte{0x97}, std::byte{B2ND_METALAYER_VERSION},
                                static_cast<std::byte>(ndim)};
  api::PutList(out, ndim, kInt64, shape);
  api::PutList(out, ndim, kInt32, chunkshape);
  api::PutList(out, ndim, kInt32, blockshape);
  out.push_back(static_cast<std::byte>(dtype_format));
  api::Put(out, kString, static_cast<int32_t>(type.size()));
  for (const char c : type) out.push_back(static_cast<std::byte>(c));
  *smeta = static_cast<uint8_t*>(std::malloc(out.size()));
  if (*smeta == nullptr) return api::Failed(BLOSC2_ERROR_MEMORY_ALLOC, "array: memory");
  cairn::CopyBytes(out, api::MutableBytesAt(*smeta, std::ssize(out)));
  return static_cast<int>(out.size());
}

int b2nd_deserialize_meta(const uint8_t* smeta, int32_t smeta_len, int8_t* ndim, int64_t* shape,
                          int32_t* chunkshape, int32_t* blockshape, char** dtype,
                          int8_t* dtype_format) {
  namespace api = cairn::blosc2_api;
  if (smeta == nullptr || ndim == nullptr || shape == nullptr || chunkshape == nullptr ||
      blockshape == nullptr) {
    return api::Failed(BLOSC2_ERROR_NULL_POINTER, "array: nowhere to put what its layer says");
  }
  const bool with_dtype = dtype != nullptr && dtype_format != nullptr;
  if (dtype != nullptr) *dtype = nullptr;
  if (dtype_format != nullptr) *dtype_format = 0;
  const auto layer = api::ReadArrayLayer(api::BytesAt(smeta, std::max(smeta_len, 0)), with_dtype);
  if (!layer.ok()) return api::Failed(BLOSC2_ERROR_FAILURE, "array: its metalayer is damaged");
  *ndim = layer->ndim;
  std::copy_n(layer->shape.begin(), layer->ndim, shape);
  std::copy_n(layer->chunkshape.begin(), layer->ndim, chunkshape);
  std::copy_n(layer->blockshape.begin(), layer->ndim, blockshape);
  if (with_dtype && layer->dtype.has_value()) {
    *dtype = strndup(layer->dtype->data(), layer->dtype->size());
    if (*dtype == nullptr) return api::Failed(BLOSC2_ERROR_MEMORY_ALLOC, "array: memory");
    *dtype_format = layer->dtype_format;
  }
  return layer->nbytes;
}

int b2nd_print_meta(const b2nd_array_t* array) {
  namespace api = cairn::blosc2_api;
  if (array == nullptr) return api::Failed(BLOSC2_ERROR_NULL_POINTER, "array: there is none");
  std::printf("b2nd metalayer parameters:\n Ndim:       %d\n shape:      %s\n", array->ndim,
              api::Join(array->shape, array->ndim).c_str());
  std::printf(" chunkshape: %s\n", api::Join(array->chunkshape, array->ndim).c_str());
  if (array->dtype != nullptr) std::printf(" dtype: %s\n", array->dtype);
  std::printf(" blockshape: %s\n", api::Join(array->blockshape, array->ndim).c_str());
  return BLOSC2_ERROR_SUCCESS;
}
