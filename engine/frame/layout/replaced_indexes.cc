#include "engine/frame/layout/replaced_indexes.h"

#include <algorithm>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/stage/sparse_sink.h"

namespace cairn::frame {

namespace {

int64_t SizeOf(FileSystem& directory, const std::string& name) {
  const auto file = directory.Open(name, FileMode::kRead);
  return file.ok() ? (*file)->Size().value_or(0) : 0;
}

bool IsRead(FileSystem& directory, const std::string& name) {
  const auto file = directory.Open(name, FileMode::kRead);
  // An index that is there and cannot be opened may be read.
  if (!file.ok()) return !absl::IsNotFound(file.status());
  return (*file)->IsLocked(kReaderLockByte, 1).value_or(true);
}

// Returns the files that are not in `taken`, each once.
std::vector<int64_t> Without(const std::vector<int64_t>& files, const std::vector<int64_t>& taken) {
  std::vector<int64_t> left;
  auto next = taken.begin();
  for (const int64_t file : files) {
    while (next != taken.end() && *next < file) ++next;
    const bool is_taken = next != taken.end() && *next == file;
    if (!is_taken && (left.empty() || left.back() != file)) left.push_back(file);
  }
  return left;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> FilesSeenIn(
    const FrameFile& source, const State& state,
    const std::vector<JournalFootprint::Placed>& journaled, size_t names) {
  // Some of the files may be missing, but hardly most of them.
  const size_t most = 2 * names + 4096;
  if (state.journal->empty()) return FileNumbersIn(state.chunks, most);
  CAIRN_ASSIGN_OR_RETURN(const StatePtr checkpoint,
                         LoadCheckpoint(source, state.checkpoint->header_bytes, state.env()));
  CAIRN_ASSIGN_OR_RETURN(std::vector<int64_t> seen, FileNumbersIn(checkpoint->chunks, most));
  for (const JournalFootprint::Placed& file : journaled) seen.push_back(file.bytes.begin);
  std::ranges::sort(seen);
  return seen;
}

ReplacedIndexes::Index ReplacedIndexes::Load(const std::string& name, size_t names) const {
  Index index = {.name = name, .files = std::nullopt};
  auto file = directory_->Open(name, FileMode::kRead);
  if (!file.ok()) return index;
  const FrameFile source = FrameFile::OfFile(*std::move(file), 0, env_->use_mmap, directory_);
  JournalFootprint journal;
  const absl::StatusOr<StatePtr> state = LoadState(source, env_, &journal);
  if (!state.ok() || !(*state)->journal.has_value() || (*state)->damage.has_value()) return index;
  auto files = FilesSeenIn(source, **state, journal.placed, names);
  if (files.ok()) index.files = *std::move(files);
  return index;
}

void ReplacedIndexes::Sweep(const std::vector<std::string>& names,
                            const std::vector<int64_t>& named) {
  free_.clear();
  needs_sweep_ = false;
  std::vector<Index> known = std::exchange(read_, {});
  for (const std::string& name : names) {
    if (!format::IsOtherIndexName(name)) continue;
    if (!IsRead(*directory_, name)) {
      Remove(name);
      continue;
    }
    const auto found = std::ranges::find(known, name, &Index::name);
    read_.push_back(found == known.end() ? Load(name, names.size()) : std::move(*found));
  }
  for (const std::string& name : names) {
    const std::optional<int64_t> number = format::ParseChunkFileName(name);
    if (!number.has_value() || std::ranges::binary_search(named, *number) || IsSeen(*number)) {
      continue;
    }
    Remove(name);
  }
}

bool ReplacedIndexes::IsSeen(int64_t number) const {
  return std::ranges::any_of(read_, [&](const Index& index) {
    return !index.files.has_value() || std::ranges::binary_search(*index.files, number);
  });
}

void ReplacedIndexes::Add(std::string index, std::vector<int64_t> files,
                          const std::vector<int64_t>& named) {
  if (!index.empty() && IsRead(*directory_, index)) {
    read_.push_back({.name = std::move(index), .files = std::move(files)});
    return;
  }
  if (!index.empty()) Remove(index);
  Drop(files, named);
}

// Marks the files of an index that is gone for removal, unless another index names them. If an
// index cannot be read, only Sweep can tell.
void ReplacedIndexes::Drop(const std::vector<int64_t>& files, const std::vector<int64_t>& named) {
  std::vector<int64_t> left = Without(files, named);
  for (const Index& index : read_) {
    if (!index.files.has_value()) {
      needs_sweep_ = true;
      return;
    }
    left = Without(left, *index.files);
  }
  free_.insert(free_.end(), left.begin(), left.end());
}

void ReplacedIndexes::Ask(size_t at, const std::vector<int64_t>& named) {
  if (IsRead(*directory_, read_[at].name)) return;
  Remove(read_[at].name);
  const Index gone = std::move(read_[at]);
  read_.erase(read_.begin() + static_cast<ptrdiff_t>(at));
  if (gone.files.has_value()) {
    Drop(*gone.files, named);
  } else {
    needs_sweep_ = true;
  }
}

void ReplacedIndexes::ReleaseSome(int64_t most, const std::vector<int64_t>& named) {
  // Each checkpoint adds one at most, which the writer's own process may still read.
  constexpr int kAsked = 2;
  for (int i = 0; i < kAsked && !read_.empty(); ++i) Ask(++next_ % read_.size(), named);
  RemoveFree(most);
}

void ReplacedIndexes::CutReserves() {
  for (const Index& index : read_) {
    const auto file = directory_->Open(index.name, FileMode::kReadWrite);
    if (!file.ok()) continue;
    const absl::StatusOr<int64_t> size = (*file)->Size();
    if (size.ok()) (*file)->Truncate(*size).IgnoreError();
  }
}

void ReplacedIndexes::Release(const std::vector<int64_t>& named) {
  for (size_t at = read_.size(); at-- > 0;) Ask(at, named);
  RemoveFree(INT64_MAX);
}

std::vector<int64_t> ReplacedIndexes::Files(const std::vector<int64_t>& named) const {
  std::vector<int64_t> files = free_;
  for (const Index& index : read_) {
    if (!index.files.has_value()) continue;
    const std::vector<int64_t> theirs = Without(*index.files, named);
    files.insert(files.end(), theirs.begin(), theirs.end());
  }
  std::ranges::sort(files);
  return files;
}

void ReplacedIndexes::RemoveFree(int64_t most) {
  for (; most > 0 && !free_.empty(); --most) {
    Remove(format::ChunkFileName(free_.back()));
    free_.pop_back();
  }
}

// Removes a file, and counts its bytes. If that fails, the file waits for the next writer.
void ReplacedIndexes::Remove(const std::string& name) {
  const int64_t size = SizeOf(*directory_, name);
  if (directory_->Remove(name).ok()) freed_ += size;
}

}  // namespace cairn::frame
