// Converts options and other structs of the C API to those of the C++ API, and back.
#ifndef CAIRN_ENGINE_C_API_OPTIONS_H_
#define CAIRN_ENGINE_C_API_OPTIONS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "absl/status/statusor.h"

#include "cairn/array.h"
#include "cairn/cairn.h"
#include "cairn/file_system.h"
#include "cairn/options.h"
#include "cairn/reports.h"
#include "cairn/types.h"
#include "engine/base/status.h"
#include "engine/c_api/versioned_struct.h"

namespace cairn::c_api {

template <>
struct StructVersions<cairn_compression_options> {
  static constexpr std::array<size_t, 2> kSizes = {offsetof(cairn_compression_options, blockshape),
                                                   sizeof(cairn_compression_options)};
};

template <>
struct StructVersions<cairn_decompression_options> {
  static constexpr std::array<size_t, 2> kSizes = {
      offsetof(cairn_decompression_options, blockshape), sizeof(cairn_decompression_options)};
};

template <>
struct StructVersions<cairn_open_options> {
  static constexpr std::array<size_t, 3> kSizes = {offsetof(cairn_open_options, files),
                                                   offsetof(cairn_open_options, cache_memory),
                                                   sizeof(cairn_open_options)};
};

template <>
struct StructVersions<cairn_writer_options> {
  static constexpr std::array<size_t, 3> kSizes = {offsetof(cairn_writer_options, staged_memory),
                                                   offsetof(cairn_writer_options, opening),
                                                   sizeof(cairn_writer_options)};
};

template <>
struct StructVersions<cairn_create_options> {
  static constexpr std::array<size_t, 2> kSizes = {offsetof(cairn_create_options, files),
                                                   sizeof(cairn_create_options)};
};

// Returns a number of an enumeration, first to last.
template <typename E>
absl::StatusOr<E> ToEnum(int32_t number, E first, E last, const char* name) {
  if (number >= static_cast<int32_t>(first) && number <= static_cast<int32_t>(last)) {
    return static_cast<E>(number);
  }
  return InvalidArgument("%s: %d is unknown", name, number);
}

absl::StatusOr<SpecialValue> ToSpecial(cairn_special special);
absl::StatusOr<Layout> ToLayout(cairn_layout layout);
absl::StatusOr<Durability> ToDurability(cairn_durability durability, const char* name);

// Returns the file system of a handle, which the caller keeps, or null.
std::shared_ptr<FileSystem> ToCpp(const cairn_files* files);
std::shared_ptr<Executor> ToCpp(const cairn_executor* executor);

// Returns an empty function for null.
std::function<bool(int64_t)> ToFunction(cairn_progress progress, void* context);

// Null gives the defaults.
absl::StatusOr<CompressionOptions> ToCpp(const cairn_compression_options* options);
absl::StatusOr<DecompressionOptions> ToCpp(const cairn_decompression_options* options);
absl::StatusOr<OpenOptions> ToCpp(const cairn_open_options* options);
absl::StatusOr<CreateOptions> ToCpp(const cairn_create_options* options);
absl::StatusOr<WriterOptions> ToCpp(const cairn_writer_options* options);

// The stages go to the first slots of `filters`. The other slots get none.
void FromCpp(std::span<const FilterStage> stages, std::span<cairn_filter_stage> filters);
cairn_compression_options FromCpp(const CompressionOptions& options);
cairn_generation_holder FromCpp(const GenerationHolder& holder);

}  // namespace cairn::c_api

#endif  // CAIRN_ENGINE_C_API_OPTIONS_H_
