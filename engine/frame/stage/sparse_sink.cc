#include "engine/frame/stage/sparse_sink.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"

namespace cairn::frame {

namespace {

// Descriptors that wait for their file to be synced.
constexpr size_t kMaxUnsynced = 64;

}  // namespace

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

SparseSink::SparseSink(std::shared_ptr<FileSystem> directory, std::vector<int64_t> taken)
    : directory_(std::move(directory)), taken_(std::move(taken)) {}

absl::StatusOr<std::unique_ptr<SparseSink>> SparseSink::Make(std::shared_ptr<FileSystem> directory,
                                                             const ChunkIndex& named) {
  CAIRN_ASSIGN_OR_RETURN(std::vector<int64_t> taken, FileNumbersIn(named, SIZE_MAX));
  return std::unique_ptr<SparseSink>(new SparseSink(std::move(directory), std::move(taken)));
}

int64_t SparseSink::NextNumber() {
  for (; passed_ < taken_.size() && taken_[passed_] <= next_; ++passed_) {
    if (taken_[passed_] == next_) ++next_;
  }
  return next_++;
}

absl::StatusOr<std::unique_ptr<File>> SparseSink::CreateFile() {
  for (;;) {
    const int64_t number = NextNumber();
    if (number > format::kMaxChunkFileNumber) {
      return ResourceExhausted("sparse frame: all %d numbers of chunk files are taken",
                               format::kMaxChunkFileNumber + 1);
    }
    // With the attributes of the index: who may read the frame may read all of it.
    absl::StatusOr<std::unique_ptr<File>> file =
        directory_->CreateFor(format::ChunkFileName(number), std::string(format::kIndexFileName));
    // What an older snapshot still reads, or what a dead writer left.
    if (absl::IsAlreadyExists(file.status())) continue;
    if (file.ok()) staged_.push_back(number);
    return file;
  }
}

absl::StatusOr<int64_t> SparseSink::Append(Bytes chunk) {
  if (unsynced_.size() == kMaxUnsynced) CAIRN_RETURN_IF_ERROR(Sync());
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file, CreateFile());
  CAIRN_RETURN_IF_ERROR(file->WriteAt(0, chunk));
  unsynced_.push_back(std::move(file));
  return staged_.back();
}

absl::Status SparseSink::Sync() {
  for (const std::unique_ptr<File>& file : unsynced_) {
    CAIRN_RETURN_IF_ERROR(file->Sync(SyncMode::kAll));
  }
  unsynced_.clear();
  return absl::OkStatus();
}

absl::Status SparseSink::RemoveUnnamed(const ChunkIndex& named) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> still, FileNumbersIn(named, SIZE_MAX));
  taken_.insert(taken_.end(), staged_.begin(), staged_.end());
  staged_.clear();
  for (const int64_t number : taken_) {
    if (std::ranges::binary_search(still, number)) continue;
    directory_->Remove(format::ChunkFileName(number)).IgnoreError();
  }
  return absl::OkStatus();
}

void SparseSink::Discard() {
  if (IsPinned()) return Keep();
  unsynced_.clear();
  for (const int64_t number : staged_) {
    directory_->Remove(format::ChunkFileName(number)).IgnoreError();
  }
  staged_.clear();
}

}  // namespace cairn::frame
