#include "tools/hdf5/chunk_frame.h"

#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"

#include "cairn/file_system.h"
#include "cairn/frame.h"
#include "tools/status.h"

namespace cairn::hdf5 {

namespace {

constexpr unsigned kDefaultLevel = 5;
constexpr unsigned kDefaultFilter = 1;  // shuffle
constexpr char kName[] = "chunk";       // name of the one file in memory
// The most dimensions of an array that hdf5plugin reads.
constexpr size_t kMaxArrayDimensions = 8;

unsigned Get(Parameters parameters, Parameter at, unsigned otherwise) {
  return at < parameters.size() ? parameters[at] : otherwise;
}

// Returns the chunk as an array, if the parameters have its shape and that fits.
std::optional<ArrayInfo> ArrayOf(size_t nbytes, Parameters parameters) {
  const size_t ndim = Get(parameters, kDimensions, 0);
  if (ndim < 2 || ndim > kMaxArrayDimensions || parameters.size() < kShape + ndim)
    return std::nullopt;
  ArrayInfo array;
  uint64_t size = parameters[kTypesize];
  for (const unsigned extent : parameters.subspan(kShape, ndim)) {
    // Items that are arrays themselves are larger than their typesize, so no shape fits.
    if (extent == 0 || extent > nbytes / size) return std::nullopt;
    size *= extent;
    array.shape.push_back(extent);
    array.chunkshape.push_back(static_cast<int32_t>(extent));
  }
  if (size != nbytes) return std::nullopt;
  return array;
}

absl::StatusOr<CompressionOptions> CompressionOf(Parameters parameters) {
  CompressionOptions options;
  const unsigned codec = Get(parameters, kCodec, 0);
  const unsigned filter = Get(parameters, kFilter, kDefaultFilter);
  const unsigned level = Get(parameters, kLevel, kDefaultLevel);
  if (codec > static_cast<unsigned>(Codec::kZstd)) {
    return absl::InvalidArgumentError(absl::StrCat("codec id ", codec, ": expected 0 to 5"));
  }
  if (filter > static_cast<unsigned>(Filter::kTruncPrec)) {
    return absl::InvalidArgumentError(absl::StrCat("filter id ", filter, ": expected 0 to 4"));
  }
  if (level > 9) {
    return absl::InvalidArgumentError(absl::StrCat("level ", level, ": expected 0 to 9"));
  }
  options.codec = static_cast<Codec>(codec);
  options.clevel = static_cast<int>(level);
  options.typesize = static_cast<int32_t>(parameters[kTypesize]);
  options.filters.clear();
  if (filter != 0) options.filters.push_back({.filter = static_cast<Filter>(filter)});
  return options;
}

}  // namespace

std::vector<unsigned> CompleteParameters(Parameters given, size_t typesize, size_t item_size,
                                         std::span<const uint64_t> chunkshape) {
  const size_t ndim = chunkshape.size();
  const bool has_shape = ndim > 1 && ndim <= kMaxArrayDimensions;
  std::vector<unsigned> parameters(given.begin(), given.end());
  parameters.resize(std::max<size_t>(std::min<size_t>(given.size(), kDimensions), kLevel));
  if (has_shape) {
    if (parameters.size() <= kLevel) parameters.push_back(kDefaultLevel);
    if (parameters.size() <= kFilter) parameters.push_back(kDefaultFilter);
    parameters.resize(kShape);
    parameters[kDimensions] = static_cast<unsigned>(ndim);
  }
  uint64_t size = item_size;
  for (const uint64_t extent : chunkshape) {
    size *= extent;  // HDF5's own limit is 4 GiB
    if (has_shape) parameters.push_back(static_cast<unsigned>(extent));
  }
  parameters[kRevision] = kThisRevision;
  parameters[kTypesize] = static_cast<unsigned>(typesize);
  parameters[kChunkSize] = static_cast<unsigned>(size);
  return parameters;
}

absl::StatusOr<MutableBytes> EncodeChunk(Bytes items, Parameters parameters, Allocate allocate) {
  if (parameters.size() < kLevel || parameters[kTypesize] == 0) {
    return absl::InvalidArgumentError("the filter's parameters are incomplete");
  }
  if (items.empty() || items.size() > kMaxChunkBytes || items.size() % parameters[kTypesize] != 0) {
    return absl::InvalidArgumentError(absl::StrCat("a chunk of ", items.size(), " bytes"));
  }
  const std::shared_ptr<FileSystem> files = MakeMemoryFileSystem();
  CreateOptions options;
  ASSIGN_OR_RETURN(options.compression, CompressionOf(parameters));
  options.fingerprint = FingerprintType::kNone;  // HDF5 has checksums of its own
  options.chunksize = static_cast<int32_t>(items.size());
  options.array = ArrayOf(items.size(), parameters);
  options.file_system = files;
  ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(kName, options));
  if (options.array.has_value()) {
    const std::vector<int64_t> start(options.array->shape.size());
    RETURN_IF_ERROR(writer.WriteBox(start, options.array->shape, items));
  } else {
    RETURN_IF_ERROR(writer.Append(items));
  }
  RETURN_IF_ERROR(writer.Close());
  ASSIGN_OR_RETURN(const std::unique_ptr<File> file, files->Open(kName, FileMode::kRead));
  ASSIGN_OR_RETURN(const int64_t size, file->Size());
  const MutableBytes frame = allocate(static_cast<size_t>(size));
  if (std::ssize(frame) != size) return absl::ResourceExhaustedError("no memory for the chunk");
  RETURN_IF_ERROR(file->ReadAt(0, frame));
  return frame;
}

absl::StatusOr<MutableBytes> DecodeChunk(Bytes frame, Parameters parameters, Allocate allocate) {
  ASSIGN_OR_RETURN(const Frame opened, Frame::OpenBuffer(frame));
  const Snapshot chunk = opened.snapshot();
  // The padding of blocks of an array is stored, too.
  uint64_t size = static_cast<uint64_t>(chunk.info().nbytes);
  if (chunk.array().has_value()) {
    size = static_cast<uint64_t>(chunk.info().typesize);
    for (const int64_t extent : chunk.array()->shape) {
      if (extent > 0 && size > uint64_t{kMaxChunkBytes} / static_cast<uint64_t>(extent)) {
        return absl::DataLossError("the shape of the chunk");
      }
      size *= static_cast<uint64_t>(extent);
    }
  }
  // HDF5 relies on the size.
  if (const unsigned expected = Get(parameters, kChunkSize, 0); expected != size) {
    return absl::DataLossError(
        absl::StrCat("a chunk of ", size, " bytes where the filter's parameters say ", expected));
  }
  const MutableBytes items = allocate(static_cast<size_t>(size));
  if (items.size() != size) return absl::ResourceExhaustedError("no memory for the chunk");
  if (chunk.array().has_value()) {
    const std::vector<int64_t> start(chunk.array()->shape.size());
    RETURN_IF_ERROR(chunk.ReadBox(start, chunk.array()->shape, items));
  } else {
    RETURN_IF_ERROR(chunk.ReadBytes(0, items));
  }
  return items;
}

}  // namespace cairn::hdf5
