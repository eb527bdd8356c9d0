// Reads the chunks of a sparse frame, each from a file of its own.
#ifndef CAIRN_ENGINE_FRAME_STATE_SPARSE_CHUNK_SOURCE_H_
#define CAIRN_ENGINE_FRAME_STATE_SPARSE_CHUNK_SOURCE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "cairn/file_system.h"
#include "engine/frame/state/chunk_source.h"
#include "engine/storage/mapping_cache.h"

namespace cairn::frame {

// Entries are numbers of files. A file is mapped when it is first touched. Only the mappings used
// last are kept, so neither descriptors nor address space run out. Thread-safe.
class SparseChunkSource final : public ChunkSource {
 public:
  // The lock on `index` keeps the chunk files as long as this source lives. They are mapped if
  // `use_mmap` says that they can be.
  SparseChunkSource(std::shared_ptr<FileSystem> directory, std::shared_ptr<const File> index,
                    bool use_mmap, int max_mapped_files);

  absl::StatusOr<ChunkLocation> Locate(int64_t entry) const override;
  std::string Describe(int64_t entry) const override;
  absl::StatusOr<chunk::Header> ReadHeader(int64_t entry, ScratchBuffer& scratch) const override;
  absl::StatusOr<StoredChunk> Read(int64_t entry, ReadMode mode, ScratchBuffer& scratch,
                                   const chunk::Header* header) const override;
  absl::StatusOr<StoredChunk> ReadBlocks(int64_t entry, std::span<const ByteRange> needed,
                                         ScratchBuffer& scratch) const override;
  void WillRead(std::span<const ChunkHint> chunks) const override;

 private:
  absl::StatusOr<std::unique_ptr<File>> OpenFile(int64_t entry) const;
  absl::StatusOr<StoredChunk> Map(int64_t entry) const;
  absl::StatusOr<StoredChunk> Copy(int64_t entry) const;

  std::shared_ptr<FileSystem> directory_;
  std::shared_ptr<const File> index_;
  bool use_mmap_;
  mutable storage::MappingCache mappings_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_SPARSE_CHUNK_SOURCE_H_
