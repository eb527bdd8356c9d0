#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cairn/recover.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/repair/buffered_file.h"
#include "engine/frame/repair/chunk_detector.h"
#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/repair/index_detector.h"
#include "engine/frame/repair/salvage_writer.h"
#include "engine/frame/repair/trailer_scanner.h"

namespace cairn {

namespace frame {

namespace {

constexpr int64_t kReadAhead = 1 << 20;

absl::StatusOr<std::unique_ptr<File>> OpenDamaged(FileSystem* files, const std::string& path) {
  if (files->OpenDirectory(path).ok()) {
    return InvalidArgument("%s is a directory: its files are salvaged one by one", path);
  }
  return files->Open(path, FileMode::kRead);
}

// The header at the start of the frame, if it can be read.
absl::StatusOr<std::optional<format::FrameHeader>> ReadHeader(BufferedFile& file, int64_t offset) {
  const int64_t available = file.size() - offset;
  CAIRN_ASSIGN_OR_RETURN(const Bytes fixed, file.ReadUpTo(offset, format::kFixedHeaderSize));
  const absl::StatusOr<int64_t> size = format::ParseHeaderLength(fixed);
  if (!size.ok() || *size > available) return std::nullopt;
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file.Read(offset, *size));
  absl::StatusOr<format::FrameHeader> header = format::ParseFrameHeader(bytes);
  if (!header.ok()) return std::nullopt;
  return *std::move(header);
}

// Header and trailers, by their begin.
absl::StatusOr<std::vector<Extent>> KnownParts(const File& file, int64_t offset,
                                               const std::optional<format::FrameHeader>& header) {
  std::vector<Extent> known;
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file.Size());
  ScanBudget budget(size, kMaxTrailerOverlaps);
  CAIRN_RETURN_IF_ERROR(ForEachTrailer(file, budget, [&](const TrailerBytes& trailer) {
    known.push_back({.begin = trailer.begin, .end = trailer.end});
  }));
  if (header.has_value()) known.push_back({.begin = offset, .end = offset + header->header_len});
  std::ranges::sort(known, {}, &Extent::begin);
  return known;
}

absl::Status DropIndexes(IndexDetector detector, std::vector<FoundChunk>& chunks) {
  std::vector<FoundChunk> data;
  for (size_t i = 0; i < chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const bool index, detector.IsIndex(i));
    if (!index) data.push_back(chunks[i]);
  }
  chunks = std::move(data);
  return absl::OkStatus();
}

// Sorted, and joined where they touch and have one reason.
std::vector<LostBytes> Merged(std::vector<LostBytes> lost) {
  std::ranges::sort(lost, {}, &LostBytes::begin);
  std::vector<LostBytes> merged;
  for (LostBytes& range : lost) {
    if (!merged.empty() && merged.back().end == range.begin &&
        merged.back().reason == range.reason) {
      merged.back().end = range.end;
    } else {
      merged.push_back(std::move(range));
    }
  }
  return merged;
}

FrameTraits TraitsOf(const std::optional<format::FrameHeader>& header) {
  if (!header.has_value()) return {};
  FrameTraits traits{.typesize = header->typesize, .blockshape = {}};
  if (const std::optional<ArrayInfo> array = ArrayOf(header->metalayers); array.has_value()) {
    traits.blockshape = array->blockshape;
  }
  return traits;
}

}  // namespace

}  // namespace frame

absl::StatusOr<SalvageReport> Salvage(const std::string& from, const std::string& to,
                                      const OpenOptions& options,
                                      absl::FunctionRef<bool(int64_t)> progress) {
  FileSystem* files = options.file_system != nullptr ? options.file_system : PosixFileSystem();
  CAIRN_ASSIGN_OR_RETURN(const std::string target, files->Absolute(to));
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, frame::OpenDamaged(files, from));
  if (files->Identity(target).ok()) {
    return absl::AlreadyExistsError(absl::StrFormat("%s exists", target));
  }
  CAIRN_ASSIGN_OR_RETURN(frame::BufferedFile buffered,
                         options.use_mmap ? frame::BufferedFile::Map(*file)
                                          : frame::BufferedFile::Open(*file, frame::kReadAhead));
  if (options.offset < 0 || options.offset > buffered.size()) {
    return OutOfRange("%s: offset %d is not in a file of %d bytes", from, options.offset,
                      buffered.size());
  }
  const auto env = std::make_shared<const frame::FrameContext>(options);
  CAIRN_ASSIGN_OR_RETURN(const std::optional<format::FrameHeader> header,
                         frame::ReadHeader(buffered, options.offset));
  CAIRN_ASSIGN_OR_RETURN(std::vector<Extent> known,
                         frame::KnownParts(*file, options.offset, header));
  frame::ChunkDetector detector(*env, frame::TraitsOf(header));
  frame::ChunkScanner scanner(buffered, detector, std::move(known));
  CAIRN_ASSIGN_OR_RETURN(frame::ScanResult found, scanner.Run(options.offset, progress));
  std::optional<int64_t> chunks_begin;
  if (header.has_value()) chunks_begin = options.offset + header->header_len;
  CAIRN_RETURN_IF_ERROR(frame::DropIndexes(
      frame::IndexDetector(buffered, detector, found.chunks, chunks_begin), found.chunks));
  frame::SalvageWriter writer(buffered, detector, *env);
  writer.Choose(std::move(found), header);
  if (writer.empty()) {
    return absl::NotFoundError(
        absl::StrFormat("%s: no complete chunk in %d bytes", from, buffered.size()));
  }
  CAIRN_ASSIGN_OR_RETURN(const FrameInfo info, writer.Write(target, files, progress));
  return SalvageReport{.chunks = info.nchunks,
                       .nbytes = info.nbytes,
                       .lost = frame::Merged(std::move(writer.lost()))};
}

}  // namespace cairn
