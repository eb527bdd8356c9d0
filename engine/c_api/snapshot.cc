#include "cairn/snapshot.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/array.h"
#include "cairn/cairn.h"
#include "cairn/chunk.h"
#include "cairn/copy.h"
#include "cairn/frame_info.h"
#include "cairn/items.h"
#include "cairn/types.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

using cairn::MutableBytes;
using cairn::c_api::CheckStruct;
using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ReturnValue;
using cairn::c_api::ToMutableBytes;
using cairn::c_api::ToSpan;
using cairn::c_api::WriteStruct;

namespace cairn::c_api {

template <>
struct StructVersions<cairn_frame_info> {
  static constexpr std::array<size_t, 2> kSizes = {offsetof(cairn_frame_info, recipe),
                                                   sizeof(cairn_frame_info)};
};

template <>
struct StructVersions<cairn_copy_options> {
  static constexpr std::array<size_t, 2> kSizes = {offsetof(cairn_copy_options, files),
                                                   sizeof(cairn_copy_options)};
};

namespace {

absl::StatusOr<CopyOptions> ToCopyOptions(const cairn_copy_options* options) {
  constexpr cairn_copy_options kDefaults = CAIRN_COPY_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_copy_options given,
                         ReadStruct(options, kDefaults, "copy options"));
  CopyOptions result;
  if (given.since != nullptr) result.since = given.since->snapshot;
  if (given.layout != CAIRN_LAYOUT_SAME) {
    CAIRN_ASSIGN_OR_RETURN(result.layout, ToLayout(given.layout));
  }
  result.overwrite = given.overwrite;
  result.progress = ToFunction(given.progress, given.context);
  result.file_system = ToCpp(given.files);
  return result;
}

// Converts the frame's facts. `recipe` is that of `info`.
cairn_frame_info ToC(const FrameInfo& info) {
  cairn_frame_info result = {};
  result.layout = static_cast<cairn_layout>(info.layout);
  result.era = static_cast<cairn_era>(info.era);
  result.format_version = info.format_version;
  result.nchunks = info.nchunks;
  result.nitems = info.nitems;
  result.nbytes = info.nbytes;
  result.cbytes = info.cbytes;
  result.frame_size = info.frame_size;
  result.journal_size = info.journal_size;
  result.header_len = info.header_len;
  result.dead_bytes = info.dead_bytes.value_or(-1);
  result.typesize = info.typesize;
  result.chunksize = info.chunksize.value_or(-1);
  result.variable_chunks = info.variable_chunks;
  result.blocksize = info.blocksize.value_or(0);
  result.codec = static_cast<cairn_codec>(info.codec);
  result.codec_meta = info.codec_meta;
  result.clevel = info.clevel;
  result.split_mode = static_cast<cairn_split_mode>(info.split_mode);
  result.use_dict = info.use_dict;
  result.vlblocks = info.vlblocks;
  result.nfilters = static_cast<int32_t>(info.filters.size());
  FromCpp(info.filters, result.filters);
  result.fingerprint = static_cast<cairn_fingerprint>(info.fingerprint);
  result.sealed = info.sealed;
  result.trailer_damaged = info.trailer_damaged;
  result.journal_damaged = info.journal_damaged;
  result.stranded_commits = info.stranded_commits;
  result.generation = info.generation;
  result.recipe = info.recipe.c_str();
  return result;
}

// Converts the array's facts. `dtype` is that of `info`.
cairn_array_info ToC(const ArrayInfo& info) {
  cairn_array_info result = {};
  result.ndim = static_cast<int32_t>(info.shape.size());
  const size_t ndim = std::min<size_t>(info.shape.size(), CAIRN_MAX_NDIM);
  std::copy_n(info.shape.begin(), ndim, result.shape);
  std::copy_n(info.chunkshape.begin(), std::min(ndim, info.chunkshape.size()), result.chunkshape);
  std::copy_n(info.blockshape.begin(), std::min(ndim, info.blockshape.size()), result.blockshape);
  result.dtype = info.dtype.c_str();
  result.dtype_format = info.dtype_format;
  return result;
}

cairn_chunk_entry ToC(const ChunkEntry& entry) {
  cairn_chunk_entry result = {};
  result.index = entry.index;
  result.offset = entry.offset.value_or(-1);
  result.file = entry.file.value_or(-1);
  result.special = static_cast<cairn_special>(entry.special);
  result.has_fingerprint = entry.fingerprint.has_value();
  result.fingerprint = entry.fingerprint.value_or(0);
  result.cbytes = entry.cbytes.value_or(-1);
  return result;
}

const std::vector<std::string>& VlmetalayersOf(const cairn_snapshot& snapshot) {
  return snapshot.vlmetalayers.Get([&] { return snapshot.snapshot.vlmetalayers(); });
}

SnapshotOptions& OptionsOf(const cairn_snapshot& snapshot) {
  return snapshot.options.Get([&] {
    SnapshotOptions made;
    made.options = snapshot.snapshot.create_options();
    made.compression = FromCpp(made.options.compression);
    for (const Metalayer& layer : made.options.metalayers) {
      made.metalayers.push_back({.name = layer.name.c_str(),
                                 .content = layer.content.data(),
                                 .size = layer.content.size()});
    }
    return made;
  });
}

}  // namespace
}  // namespace cairn::c_api

void cairn_snapshot_free(cairn_snapshot* snapshot) { delete snapshot; }

bool cairn_snapshot_equal(const cairn_snapshot* a, const cairn_snapshot* b) {
  return a != nullptr && b != nullptr && a->snapshot == b->snapshot;
}

cairn_code cairn_snapshot_info(const cairn_snapshot* snapshot, cairn_frame_info* info,
                               cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_RETURN_IF_ERROR(CheckStruct(info, "info"));
    WriteStruct(cairn::c_api::ToC(snapshot->snapshot.info()), info);
    return absl::OkStatus();
  });
}

cairn_code cairn_snapshot_array(const cairn_snapshot* snapshot, cairn_array_info* array,
                                cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_RETURN_IF_ERROR(CheckStruct(array, "array"));
    const auto& found = snapshot->snapshot.array();
    if (!found.has_value()) return cairn::FailedPrecondition("the frame is not an array");
    WriteStruct(cairn::c_api::ToC(*found), array);
    return absl::OkStatus();
  });
}

cairn_code cairn_snapshot_create_options(const cairn_snapshot* snapshot,
                                         cairn_create_options* options, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_RETURN_IF_ERROR(CheckStruct(options, "options"));
    const cairn::c_api::SnapshotOptions& made = cairn::c_api::OptionsOf(*snapshot);
    cairn_create_options result = CAIRN_CREATE_OPTIONS_INIT;
    result.compression = &made.compression;
    const bool is_variable = made.options.chunksize == cairn::ChunkSize::Variable();
    result.chunksize = made.options.chunksize.nbytes().value_or(is_variable ? 0 : -1);
    result.layout = static_cast<cairn_layout>(made.options.layout);
    result.metalayers = made.metalayers.data();
    result.nmetalayers = made.metalayers.size();
    result.fingerprint = static_cast<cairn_fingerprint>(made.options.fingerprint);
    WriteStruct(result, options);
    return absl::OkStatus();
  });
}

size_t cairn_snapshot_metalayer_count(const cairn_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : snapshot->snapshot.metalayers().size();
}

const char* cairn_snapshot_metalayer_name(const cairn_snapshot* snapshot, size_t number) {
  if (number >= cairn_snapshot_metalayer_count(snapshot)) return nullptr;
  return snapshot->snapshot.metalayers()[number].name.c_str();
}

cairn_code cairn_snapshot_get_metalayer(const cairn_snapshot* snapshot, const char* name,
                                        cairn_bytes** content, cairn_status* status) {
  return ReturnHandle(content, "content", status, [&]() -> absl::StatusOr<cairn::Chunk> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(name);
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, snapshot->snapshot.GetMetalayer(name));
    return cairn::c_api::OwnBytes(std::move(bytes));
  });
}

size_t cairn_snapshot_vlmetalayer_count(const cairn_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : cairn::c_api::VlmetalayersOf(*snapshot).size();
}

const char* cairn_snapshot_vlmetalayer_name(const cairn_snapshot* snapshot, size_t number) {
  if (number >= cairn_snapshot_vlmetalayer_count(snapshot)) return nullptr;
  return cairn::c_api::VlmetalayersOf(*snapshot)[number].c_str();
}

cairn_code cairn_snapshot_get_vlmetalayer(const cairn_snapshot* snapshot, const char* name,
                                          cairn_bytes** content, cairn_status* status) {
  return ReturnHandle(content, "content", status, [&]() -> absl::StatusOr<cairn::Chunk> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(name);
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, snapshot->snapshot.GetVlmetalayer(name));
    return cairn::c_api::OwnBytes(std::move(bytes));
  });
}

cairn_code cairn_snapshot_get_entry(const cairn_snapshot* snapshot, int64_t nchunk,
                                    cairn_chunk_entry* entry, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_RETURN_IF_ERROR(CheckStruct(entry, "entry"));
    CAIRN_ASSIGN_OR_RETURN(const cairn::ChunkEntry found, snapshot->snapshot.GetEntry(nchunk));
    WriteStruct(cairn::c_api::ToC(found), entry);
    return absl::OkStatus();
  });
}

cairn_code cairn_snapshot_get_chunk(const cairn_snapshot* snapshot, int64_t nchunk,
                                    cairn_bytes** chunk, cairn_status* status) {
  return ReturnHandle(chunk, "chunk", status, [&]() -> absl::StatusOr<cairn::Chunk> {
    CAIRN_REQUIRE(snapshot);
    return snapshot->snapshot.GetChunk(nchunk);
  });
}

cairn_code cairn_snapshot_chunk_nbytes(const cairn_snapshot* snapshot, int64_t nchunk,
                                       int32_t* nbytes, cairn_status* status) {
  return ReturnValue(nbytes, status, [&]() -> absl::StatusOr<int32_t> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(nbytes);
    return snapshot->snapshot.ChunkNbytes(nchunk);
  });
}

cairn_code cairn_snapshot_read_chunk(const cairn_snapshot* snapshot, int64_t nchunk, void* dst,
                                     size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    return snapshot->snapshot.ReadChunk(nchunk, to);
  });
}

cairn_code cairn_snapshot_read_items(const cairn_snapshot* snapshot, int64_t start, void* dst,
                                     size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    return snapshot->snapshot.ReadItems(start, to);
  });
}

cairn_code cairn_snapshot_read_items_at(const cairn_snapshot* snapshot, const int64_t* items,
                                        size_t nitems, void* dst, size_t size,
                                        cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(const std::span<const int64_t> wanted,
                           ToSpan(items, static_cast<int64_t>(nitems), "items"));
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    return snapshot->snapshot.ReadItemsAt(wanted, to);
  });
}

cairn_code cairn_snapshot_read_fields(const cairn_snapshot* snapshot, int64_t start, int64_t nitems,
                                      const cairn_field* fields, size_t nfields,
                                      cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(const std::span<const cairn_field> wanted,
                           ToSpan(fields, static_cast<int64_t>(nfields), "fields"));
    std::vector<cairn::FieldSpan> spans;
    for (const cairn_field& field : wanted) {
      const std::optional<int64_t> size = cairn::CheckedMul<int64_t>(nitems, field.size);
      if (nitems < 0 || field.size < 0 || !size.has_value()) {
        return cairn::InvalidArgument("%d values of %d bytes", nitems, field.size);
      }
      CAIRN_ASSIGN_OR_RETURN(const MutableBytes to,
                             ToMutableBytes(field.dst, static_cast<size_t>(*size)));
      spans.push_back({.offset = field.offset, .size = field.size, .dst = to});
    }
    return snapshot->snapshot.ReadFields(start, nitems, spans);
  });
}

cairn_code cairn_snapshot_read_bytes(const cairn_snapshot* snapshot, int64_t begin, void* dst,
                                     size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    return snapshot->snapshot.ReadBytes(begin, to);
  });
}

cairn_code cairn_snapshot_read_box(const cairn_snapshot* snapshot, const int64_t* start,
                                   const int64_t* shape, int32_t ndim, void* dst, size_t size,
                                   cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(const std::span<const int64_t> from, ToSpan(start, ndim, "start"));
    CAIRN_ASSIGN_OR_RETURN(const std::span<const int64_t> extent, ToSpan(shape, ndim, "shape"));
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    return snapshot->snapshot.ReadBox(from, extent, to);
  });
}

cairn_code cairn_snapshot_content_hash(const cairn_snapshot* snapshot, uint64_t* hash,
                                       cairn_status* status) {
  return ReturnValue(hash, status, [&]() -> absl::StatusOr<uint64_t> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(hash);
    return snapshot->snapshot.ContentHash();
  });
}

cairn_code cairn_snapshot_copy_to(const cairn_snapshot* snapshot, const char* path,
                                  const cairn_copy_options* options, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(path);
    CAIRN_ASSIGN_OR_RETURN(const cairn::CopyOptions converted,
                           cairn::c_api::ToCopyOptions(options));
    return snapshot->snapshot.CopyTo(path, converted);
  });
}

cairn_code cairn_snapshot_to_buffer(const cairn_snapshot* snapshot, cairn_bytes** buffer,
                                    cairn_status* status) {
  return ReturnHandle(buffer, "buffer", status, [&]() -> absl::StatusOr<cairn::Chunk> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> bytes, snapshot->snapshot.ToBuffer());
    return cairn::c_api::OwnBytes(std::move(bytes));
  });
}

cairn_code cairn_snapshot_increment_info(const cairn_snapshot* snapshot, cairn_increment_info* info,
                                         cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_RETURN_IF_ERROR(CheckStruct(info, "info"));
    CAIRN_ASSIGN_OR_RETURN(const cairn::IncrementInfo found, snapshot->snapshot.GetIncrementInfo());
    const cairn_increment_info result = {.struct_size = sizeof(cairn_increment_info),
                                         .base_hash = found.base_hash,
                                         .result_hash = found.result_hash,
                                         .base_generation = found.base_generation,
                                         .result_generation = found.result_generation};
    WriteStruct(result, info);
    return absl::OkStatus();
  });
}
