#include "engine/frame/state/sparse_chunk_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/claimed_read.h"
#include "engine/frame/state/picked_read.h"

namespace cairn::frame {

namespace {

// No chunk file is larger.
constexpr int64_t kMaxFileSize = int64_t{kMaxChunkBytes} + chunk::kHeaderSize;

absl::StatusOr<int64_t> SizeOf(const File& file) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file.Size());
  if (size >= chunk::kBlosc1HeaderSize) return size;
  return DataLoss("the file holds %d bytes, which is not a chunk", size);
}

absl::StatusOr<chunk::Header> HeaderOf(const File& file) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, SizeOf(file));
  std::vector<std::byte> head(static_cast<size_t>(std::min<int64_t>(size, chunk::kHeaderSize)));
  CAIRN_RETURN_IF_ERROR(file.ReadAt(0, head));
  return chunk::ParseHeader(head, size);
}

}  // namespace

SparseChunkSource::SparseChunkSource(std::shared_ptr<FileSystem> directory,
                                     std::shared_ptr<const File> index, bool use_mmap,
                                     int max_mapped_files)
    : ChunkSource(index->read_ahead()),
      directory_(std::move(directory)),
      index_(std::move(index)),
      use_mmap_(use_mmap),
      mappings_(static_cast<size_t>(max_mapped_files)) {}

absl::StatusOr<ChunkLocation> SparseChunkSource::Locate(int64_t entry) const {
  if (entry < 0 || entry > format::kMaxChunkFileNumber) {
    return DataLoss("index: %d is not the number of a chunk file", entry);
  }
  return ChunkLocation{.file = entry};
}

std::string SparseChunkSource::Describe(int64_t entry) const {
  return "in " + format::ChunkFileName(entry);
}

absl::StatusOr<std::unique_ptr<File>> SparseChunkSource::OpenFile(int64_t entry) const {
  CAIRN_RETURN_IF_ERROR(Locate(entry).status());
  auto file = directory_->Open(format::ChunkFileName(entry), FileMode::kRead);
  // A file of the frame that is missing, or is something else, is damage.
  if (absl::IsNotFound(file.status()) || absl::IsFailedPrecondition(file.status())) {
    return WithCode(absl::StatusCode::kDataLoss, file.status());
  }
  return file;
}

absl::StatusOr<StoredChunk> SparseChunkSource::Map(int64_t entry) const {
  const auto map = [&]() -> absl::StatusOr<std::shared_ptr<const Mapping>> {
    CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, OpenFile(entry));
    CAIRN_ASSIGN_OR_RETURN(const int64_t size, SizeOf(*file));
    return file->Map(0, std::min(size, kMaxFileSize), 0);
  };
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const Mapping> mapping,
                         mappings_.Get(static_cast<uint64_t>(entry), map));
  const Bytes bytes = mapping->bytes();
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(bytes));
  return StoredChunk{header,
                     Chunk(bytes.first(static_cast<size_t>(header.cbytes)), std::move(mapping))};
}

absl::StatusOr<StoredChunk> SparseChunkSource::Copy(int64_t entry) const {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, OpenFile(entry));
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, HeaderOf(*file));
  CAIRN_ASSIGN_OR_RETURN(Chunk chunk, ReadAsItComes(*file, 0, header.cbytes));
  return StoredChunk{header, std::move(chunk)};
}

absl::StatusOr<chunk::Header> SparseChunkSource::ReadHeader(int64_t entry,
                                                            ScratchBuffer& /*scratch*/) const {
  if (use_mmap_) {  // it stays for the next reader of the chunk
    CAIRN_ASSIGN_OR_RETURN(const StoredChunk chunk, Map(entry));
    return chunk.header;
  }
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, OpenFile(entry));
  return HeaderOf(*file);
}

absl::StatusOr<StoredChunk> SparseChunkSource::Read(int64_t entry, ReadMode mode,
                                                    ScratchBuffer& /*scratch*/,
                                                    const chunk::Header* /*header*/) const {
  return use_mmap_ && mode != ReadMode::kCopied ? Map(entry) : Copy(entry);
}

absl::StatusOr<StoredChunk> SparseChunkSource::ReadBlocks(int64_t entry,
                                                          std::span<const ByteRange> needed,
                                                          ScratchBuffer& /*scratch*/) const {
  if (use_mmap_) return Map(entry);
  if (read_ahead() > 0) return Copy(entry);
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, OpenFile(entry));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, SizeOf(*file));
  const auto read = [&](int64_t offset, MutableBytes dst) { return file->ReadAt(offset, dst); };
  CAIRN_ASSIGN_OR_RETURN(Chunk chunk, ReadPicked(size, needed, read));
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk.bytes()));
  return StoredChunk{header, std::move(chunk)};
}

void SparseChunkSource::WillRead(std::span<const ChunkHint> chunks) const {
  if (read_ahead() == 0) return;
  std::vector<FileHint> files;
  for (const auto& [entry, size] : chunks) {
    if (Locate(entry).ok()) files.push_back({format::ChunkFileName(entry), size});
  }
  directory_->WillOpen(files);
}

}  // namespace cairn::frame
