#include "engine/frame/stage/sparse_sink.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"

namespace cairn::frame {

absl::StatusOr<std::vector<int64_t>> FileNumbersIn(const ChunkIndex& index, size_t most) {
  std::vector<int64_t> numbers;
  CAIRN_RETURN_IF_ERROR(index.ForEach([&](const IndexEntry& entry) {
    // Nor is there a file of a number that no name has.
    if (entry.value < 0 || entry.value > format::kMaxChunkFileNumber) return absl::OkStatus();
    if (numbers.size() == most) return DataLoss("index: names more than %d chunk files", most);
    numbers.push_back(entry.value);
    return absl::OkStatus();
  }));
  std::ranges::sort(numbers);
  return numbers;
}

// Hands all files to the disk before it waits for the first one.
absl::Status SyncChunkFiles(FileSystem& directory, std::span<const ChunkFile> files) {
  for (const bool soon : {true, false}) {
    if (soon && files.size() == 1) continue;
    for (const ChunkFile& chunk : files) {
      const std::string name = format::ChunkFileName(chunk.number);
      CAIRN_ASSIGN_OR_RETURN(const auto file, directory.Open(name, FileMode::kReadWrite));
      if (soon) {
        file->SyncSoon(0, chunk.size);
      } else {
        CAIRN_RETURN_IF_ERROR(file->Sync(SyncMode::kData));
      }
    }
  }
  return absl::OkStatus();
}

int64_t SparseSink::NextNumber() {
  while (named_.Has(next_) || others_.Has(next_)) ++next_;
  return next_++;
}

absl::StatusOr<std::unique_ptr<File>> SparseSink::CreateFile(int64_t size) {
  for (;;) {
    const int64_t number = NextNumber();
    if (number > format::kMaxChunkFileNumber) {
      return ResourceExhausted("sparse frame: all %d numbers of chunk files are taken",
                               format::kMaxChunkFileNumber + 1);
    }
    // The file gets the attributes of the index, so that whoever may read the index may read all.
    absl::StatusOr<std::unique_ptr<File>> file =
        directory_->CreateFor(format::ChunkFileName(number), std::string(format::kIndexFileName));
    // The file could not be removed, or belongs to an older index that cannot be read.
    if (absl::IsAlreadyExists(file.status())) continue;
    if (file.ok()) staged_.push_back({.number = number, .size = size});
    return file;
  }
}

int64_t SparseSink::staged_bytes() const {
  int64_t bytes = 0;
  for (const ChunkFile& file : staged_) bytes += file.size;
  return bytes;
}

absl::StatusOr<int64_t> SparseSink::Append(Bytes chunk) {
  if (limit_.bytes < INT64_MAX) {
    CAIRN_RETURN_IF_ERROR(limit_.Check(other_bytes_ + staged_bytes() + std::ssize(chunk)));
  }
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<File> file, CreateFile(std::ssize(chunk)));
  absl::Status written = file->WriteAt(0, chunk);
  if (absl::IsResourceExhausted(written) && give_reserve_ != nullptr) {
    CAIRN_RETURN_IF_ERROR(give_reserve_());
    written = file->WriteAt(0, chunk);
  }
  CAIRN_RETURN_IF_ERROR(written);
  return staged_.back().number;
}

void SparseSink::Keep() {
  for (const ChunkFile& file : staged_) kept_.push_back(file.number);
  staged_.clear();
}

void SparseSink::Discard() {
  if (IsPinned()) return Keep();
  for (const ChunkFile& file : staged_) {
    directory_->Remove(format::ChunkFileName(file.number)).IgnoreError();
  }
  staged_.clear();
}

std::vector<int64_t> SparseSink::Files() const {
  std::vector<int64_t> files = named_.numbers;
  files.insert(files.end(), kept_.begin(), kept_.end());
  for (const ChunkFile& file : staged_) files.push_back(file.number);
  std::ranges::sort(files);
  return files;
}

}  // namespace cairn::frame
