#include "engine/c_api/options.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/array.h"
#include "cairn/cairn.h"
#include "cairn/file_system.h"
#include "cairn/options.h"
#include "cairn/reports.h"
#include "cairn/types.h"
#include "engine/base/status.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/result.h"

namespace cairn::c_api {
namespace {

std::shared_ptr<const Registry> ToRegistry(const cairn_registry* registry) {
  return registry == nullptr ? nullptr : registry->registry;
}

absl::StatusOr<uint8_t> ToByte(int32_t number, const char* name) {
  return ToEnum<uint8_t>(number, 0, 255, name);
}

template <typename T>
std::optional<T> ToOptional(const T* value) {
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

absl::StatusOr<std::vector<int32_t>> ToBlockshape(const int32_t* shape, int32_t ndim) {
  CAIRN_ASSIGN_OR_RETURN(const std::span<const int32_t> given, ToSpan(shape, ndim, "blockshape"));
  return std::vector<int32_t>(given.begin(), given.end());
}

absl::StatusOr<ArrayInfo> ToArrayInfo(const cairn_array_info* info) {
  CAIRN_RETURN_IF_ERROR(CheckStruct(info, "array"));
  CAIRN_ASSIGN_OR_RETURN(const cairn_array_info array,
                         ReadStruct(info, cairn_array_info{}, "array"));
  if (array.ndim < 0 || array.ndim > CAIRN_MAX_NDIM) {
    return InvalidArgument("array: %d dimensions", array.ndim);
  }
  const auto ndim = static_cast<size_t>(array.ndim);
  ArrayInfo result;
  result.shape.assign(array.shape, array.shape + ndim);
  const auto pieces = [ndim](const int32_t* shape) {
    const std::span given(shape, ndim);
    const bool chosen = std::ranges::all_of(given, [](int32_t n) { return n == 0; });
    return chosen ? std::vector<int32_t>() : std::vector<int32_t>(given.begin(), given.end());
  };
  result.chunkshape = pieces(array.chunkshape);
  result.blockshape = pieces(array.blockshape);
  if (array.dtype != nullptr) result.dtype = array.dtype;
  CAIRN_ASSIGN_OR_RETURN(result.dtype_format, ToByte(array.dtype_format, "dtype_format"));
  return result;
}

}  // namespace

std::shared_ptr<Executor> ToCpp(const cairn_executor* executor) {
  return executor == nullptr ? nullptr : executor->executor;
}

std::shared_ptr<FileSystem> ToCpp(const cairn_files* files) {
  return files == nullptr ? nullptr : files->files;
}

absl::StatusOr<SpecialValue> ToSpecial(cairn_special special) {
  return ToEnum(special, SpecialValue::kNone, SpecialValue::kUninit, "special");
}

std::function<bool(int64_t)> ToFunction(cairn_progress progress, void* context) {
  if (progress == nullptr) return {};
  return [progress, context](int64_t done) { return progress(context, done); };
}

absl::StatusOr<Layout> ToLayout(cairn_layout layout) {
  return ToEnum(layout, Layout::kContiguous, Layout::kSparse, "layout");
}

absl::StatusOr<Durability> ToDurability(cairn_durability durability, const char* name) {
  return ToEnum(durability, Durability::kProcess, Durability::kMachine, name);
}

absl::StatusOr<CompressionOptions> ToCpp(const cairn_compression_options* options) {
  constexpr cairn_compression_options kDefaults = CAIRN_COMPRESSION_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_compression_options given,
                         ReadStruct(options, kDefaults, "compression options"));
  CompressionOptions result;
  CAIRN_ASSIGN_OR_RETURN(const uint8_t codec, ToByte(given.codec, "codec"));
  result.codec = static_cast<Codec>(codec);
  result.clevel = given.clevel;
  result.typesize = given.typesize;
  result.blocksize = given.blocksize;
  CAIRN_ASSIGN_OR_RETURN(result.split_mode, ToEnum(given.split_mode, SplitMode::kAlways,
                                                   SplitMode::kForwardCompat, "split_mode"));
  CAIRN_ASSIGN_OR_RETURN(result.codec_meta, ToByte(given.codec_meta, "codec_meta"));
  result.use_dict = given.use_dict;
  CAIRN_ASSIGN_OR_RETURN(
      result.format, ToEnum(given.format, ChunkFormat::kBlosc2, ChunkFormat::kBlosc1, "format"));
  if (given.nfilters < 0 || given.nfilters > CAIRN_MAX_FILTERS) {
    return InvalidArgument("%d filters", given.nfilters);
  }
  result.filters.clear();
  for (const auto& [filter, meta] : std::span(given.filters, static_cast<size_t>(given.nfilters))) {
    CAIRN_ASSIGN_OR_RETURN(const uint8_t id, ToByte(filter, "filter"));
    CAIRN_ASSIGN_OR_RETURN(const uint8_t meta_byte, ToByte(meta, "meta of a filter"));
    result.filters.push_back({.filter = static_cast<Filter>(id), .meta = meta_byte});
  }
  result.registry = ToRegistry(given.registry);
  result.executor = ToCpp(given.executor);
  CAIRN_ASSIGN_OR_RETURN(result.blockshape, ToBlockshape(given.blockshape, given.ndim));
  return result;
}

absl::StatusOr<DecompressionOptions> ToCpp(const cairn_decompression_options* options) {
  constexpr cairn_decompression_options kDefaults = CAIRN_DECOMPRESSION_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_decompression_options given,
                         ReadStruct(options, kDefaults, "decompression options"));
  DecompressionOptions result{.registry = ToRegistry(given.registry),
                              .executor = ToCpp(given.executor)};
  CAIRN_ASSIGN_OR_RETURN(result.blockshape, ToBlockshape(given.blockshape, given.ndim));
  return result;
}

absl::StatusOr<OpenOptions> ToCpp(const cairn_open_options* options) {
  constexpr cairn_open_options kDefaults = CAIRN_OPEN_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_open_options given,
                         ReadStruct(options, kDefaults, "open options"));
  OpenOptions result;
  result.offset = given.offset;
  result.use_mmap = given.use_mmap;
  result.durable_only = given.durable_only;
  CAIRN_ASSIGN_OR_RETURN(result.verify, ToEnum(given.verify, VerifyPolicy::kFirstTouch,
                                               VerifyPolicy::kNever, "verify"));
  result.generation = ToOptional(given.generation);
  result.limits = {.max_chunk_nbytes = given.max_chunk_nbytes,
                   .max_metadata_nbytes = given.max_metadata_nbytes,
                   .max_nchunks = given.max_nchunks,
                   .max_decode_memory = given.max_decode_memory};
  result.max_mapped_files = given.max_mapped_files;
  result.registry = ToRegistry(given.registry);
  result.executor = ToCpp(given.executor);
  result.file_system = ToCpp(given.files);
  result.cache_memory = given.cache_memory;
  return result;
}

absl::StatusOr<CreateOptions> ToCpp(const cairn_create_options* options) {
  constexpr cairn_create_options kDefaults = CAIRN_CREATE_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_create_options given,
                         ReadStruct(options, kDefaults, "create options"));
  CreateOptions result;
  CAIRN_ASSIGN_OR_RETURN(result.compression, ToCpp(given.compression));
  result.chunksize = given.chunksize == 0    ? ChunkSize::Variable()
                     : given.chunksize == -1 ? ChunkSize::AsFirstChunk()
                                             : ChunkSize(given.chunksize);
  CAIRN_ASSIGN_OR_RETURN(result.layout, ToLayout(given.layout));
  if (given.array != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(result.array, ToArrayInfo(given.array));
  }
  CAIRN_ASSIGN_OR_RETURN(
      const std::span<const cairn_metalayer> layers,
      ToSpan(given.metalayers, static_cast<int64_t>(given.nmetalayers), "metalayers"));
  for (const cairn_metalayer& layer : layers) {
    CAIRN_RETURN_IF_ERROR(NotNull(layer.name, "name of a metalayer"));
    CAIRN_ASSIGN_OR_RETURN(const Bytes content, ToBytes(layer.content, layer.size, layer.name));
    result.metalayers.push_back({.name = layer.name, .content = {content.begin(), content.end()}});
  }
  CAIRN_ASSIGN_OR_RETURN(result.fingerprint, ToEnum(given.fingerprint, FingerprintType::kNone,
                                                    FingerprintType::k128Bit, "fingerprint"));
  result.overwrite = given.overwrite;
  result.file_system = ToCpp(given.files);
  return result;
}

absl::StatusOr<WriterOptions> ToCpp(const cairn_writer_options* options) {
  constexpr cairn_writer_options kDefaults = CAIRN_WRITER_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_writer_options given,
                         ReadStruct(options, kDefaults, "writer options"));
  WriterOptions result;
  if (given.compression != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(result.compression, ToCpp(given.compression));
  }
  result.registry = ToRegistry(given.registry);
  result.chunksize = given.chunksize;
  result.wait = std::chrono::milliseconds(given.wait_ms);
  result.keep_generations = given.keep_generations;
  result.max_file_size = given.max_file_size;
  result.make_lock_file = given.make_lock_file;
  result.executor = ToCpp(given.executor);
  result.staged_memory = given.staged_memory;
  CAIRN_ASSIGN_OR_RETURN(result.opening, ToDurability(given.opening, "opening"));
  return result;
}

void FromCpp(std::span<const FilterStage> stages, std::span<cairn_filter_stage> filters) {
  std::ranges::fill(filters, cairn_filter_stage{CAIRN_FILTER_NONE, 0});
  for (size_t i = 0; i < std::min(stages.size(), filters.size()); ++i) {
    filters[i] = {static_cast<cairn_filter>(stages[i].filter), stages[i].meta};
  }
}

cairn_compression_options FromCpp(const CompressionOptions& options) {
  cairn_compression_options result = CAIRN_COMPRESSION_OPTIONS_INIT;
  result.codec = static_cast<cairn_codec>(options.codec);
  result.clevel = options.clevel;
  result.typesize = options.typesize;
  result.blocksize = options.blocksize;
  result.split_mode = static_cast<cairn_split_mode>(options.split_mode);
  result.codec_meta = options.codec_meta;
  result.use_dict = options.use_dict;
  result.format = static_cast<cairn_chunk_format>(options.format);
  result.nfilters = static_cast<int32_t>(options.filters.size());
  FromCpp(options.filters, result.filters);
  return result;
}

cairn_generation_holder FromCpp(const GenerationHolder& holder) {
  return {.struct_size = sizeof(cairn_generation_holder),
          .generation = holder.generation,
          .pid = holder.pid,
          .running_seconds = holder.running ? int64_t{holder.running->count()} : -1};
}

}  // namespace cairn::c_api
