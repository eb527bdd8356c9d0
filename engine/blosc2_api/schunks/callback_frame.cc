#include "engine/blosc2_api/schunks/callback_frame.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/file_system.h"
#include "cairn/frame.h"
#include "cairn/writer.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/files/callback_files.h"
#include "engine/blosc2_api/schunks/memory_frame.h"
#include "engine/blosc2_api/schunks/serialize.h"
#include "engine/storage/memory_file_system.h"

namespace cairn::blosc2_api {

namespace {

constexpr std::string_view kIndex = "chunks.b2frame";  // in a directory, with files of chunks

// Returns the path of a directory without the slash that it may end with.
std::string FolderOf(std::string path) {
  if (path.ends_with('/')) path.pop_back();
  return path;
}

// A directory as it was written or read.
struct Directory {
  std::shared_ptr<FileSystem> files = nullptr;
  std::vector<std::string> chunks = {};  // names of the files with chunks, in order
};

// Returns the sorted names of the files that hold the chunks.
std::vector<std::string> ChunkFilesOf(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const absl::StatusOr<ChunkEntry> entry = snapshot.GetEntry(i);
    if (entry.ok() && entry->file.has_value()) {
      names.push_back(absl::StrFormat("%08X.chunk", *entry->file));
    }
  }
  std::ranges::sort(names);
  return names;
}

// Makes the directory of a super-chunk in memory.
absl::StatusOr<Directory> MakeDirectory(const blosc2_schunk& schunk) {
  const auto files = std::make_shared<storage::MemoryFileSystem>();
  CreateOptions options = CreateOptionsOf(schunk);
  options.file_system = MakeFolder(files);
  options.layout = Layout::kSparse;
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate("frame", options));
  CAIRN_RETURN_IF_ERROR(StageAll(schunk, writer));
  CAIRN_RETURN_IF_ERROR(writer.Close());
  CAIRN_ASSIGN_OR_RETURN(
      const Frame frame,
      Frame::Open("frame", {.use_mmap = false, .file_system = options.file_system}));
  return Directory{.files = files, .chunks = ChunkFilesOf(frame.snapshot())};
}

absl::StatusOr<std::vector<std::byte>> ContentOf(FileSystem& files, std::string_view name) {
  CAIRN_ASSIGN_OR_RETURN(const auto file, files.Open(std::string(name), FileMode::kRead));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  std::vector<std::byte> content(static_cast<size_t>(size));
  CAIRN_RETURN_IF_ERROR(file->ReadAt(0, content));
  return content;
}

// Writes the files of a directory that are not in `before`. The index comes last, and then the
// files go that it no longer names.
absl::Status Store(const Directory& now, const Directory& before, const std::string& folder,
                   const blosc2_io& io) {
  const auto write = [&](std::string_view name) -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(const auto content, ContentOf(*now.files, name));
    return WriteFile(absl::StrFormat("%s/%s", folder, name), io, content);
  };
  for (const std::string& name : now.chunks) {
    const bool known = std::ranges::binary_search(before.chunks, name);
    if (known && ContentOf(*before.files, name) == ContentOf(*now.files, name)) continue;
    CAIRN_RETURN_IF_ERROR(write(name));
  }
  CAIRN_RETURN_IF_ERROR(write(kIndex));
  // C-Blosc2 removes them in this way, too: programs register no function for that.
  for (const std::string& name : before.chunks) {
    if (!std::ranges::binary_search(now.chunks, name)) {
      std::remove(absl::StrFormat("%s/%s", folder, name).c_str());
    }
  }
  return absl::OkStatus();
}

// Keeps the chunks in memory. Each edit writes the file, or the files of a directory that it has
// changed.
class CallbackFrame final : public blosc2_frame_s {
 public:
  CallbackFrame(const blosc2_schunk& schunk, std::unique_ptr<blosc2_frame_s> memory, bool writable)
      : schunk_(schunk), memory_(std::move(memory)), writable_(writable) {}

  // Says what the directory of the frame held when it was read.
  void Found(Directory directory) { directory_ = std::move(directory); }

  absl::StatusOr<Chunk> Get(int64_t nchunk) override { return memory_->Get(nchunk); }
  bool Keeps(int64_t nchunk, const Chunk& chunk) const override {
    return memory_->Keeps(nchunk, chunk);
  }
  absl::Status Insert(int64_t nchunk, Chunk chunk) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable());
    return memory_->Insert(nchunk, std::move(chunk));
  }
  absl::Status Update(int64_t nchunk, Chunk chunk) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable());
    return memory_->Update(nchunk, std::move(chunk));
  }
  absl::Status Delete(int64_t nchunk) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable());
    return memory_->Delete(nchunk);
  }
  absl::Status Reorder(std::span<const int64_t> order) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable());
    return memory_->Reorder(order);
  }
  absl::Status SetMetalayer(const char* name, const Bytes* content) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable());
    return memory_->SetMetalayer(name, content);
  }
  absl::Status SetVlmetalayer(const char* name, const Bytes* content) override {
    CAIRN_RETURN_IF_ERROR(CheckWritable());
    return memory_->SetVlmetalayer(name, content);
  }
  absl::StatusOr<MutableBytes> Cframe() override { return memory_->Cframe(); }
  absl::StatusOr<Snapshot> State() override { return memory_->State(); }
  absl::StatusOr<int64_t> Length() override { return memory_->Length(); }
  void KeepCframe(bool keep) override { memory_->KeepCframe(keep); }
  bool on_disk() const override { return false; }

  absl::Status Begin() override {
    ++depth_;
    return absl::OkStatus();
  }
  absl::Status End() override {
    if (depth_ > 0) --depth_;
    return Settle();
  }
  absl::Status Settle() override {
    if (depth_ > 0 || !writable_) return absl::OkStatus();
    const blosc2_io& io = *schunk_.storage->io;
    if (schunk_.storage->contiguous) {
      CAIRN_ASSIGN_OR_RETURN(const MutableBytes cframe, memory_->Cframe());
      return WriteFile(schunk_.storage->urlpath, io, cframe);
    }
    CAIRN_ASSIGN_OR_RETURN(Directory now, MakeDirectory(schunk_));
    CAIRN_RETURN_IF_ERROR(Store(now, directory_, FolderOf(schunk_.storage->urlpath), io));
    directory_ = std::move(now);
    return absl::OkStatus();
  }

 private:
  absl::Status CheckWritable() const {
    if (writable_) return absl::OkStatus();
    return absl::PermissionDeniedError("I/O: a frame at an offset is read-only");
  }

  const blosc2_schunk& schunk_;
  const std::unique_ptr<blosc2_frame_s> memory_;
  const bool writable_;
  Directory directory_;
  int depth_ = 0;  // of sequences of edits
};

absl::StatusOr<SchunkPtr> OpenContiguous(const char* urlpath, int64_t offset, const blosc2_io& io) {
  CAIRN_ASSIGN_OR_RETURN(MutableBytes cframe, ReadFile(urlpath, io, offset));
  std::unique_ptr<std::byte, decltype(&std::free)> owner(cframe.data(), std::free);
  CAIRN_ASSIGN_OR_RETURN(const Frame frame, Frame::OpenBuffer(cframe));
  const FrameInfo& info = frame.snapshot().info();
  // Other content of the file may follow.
  cframe = cframe.first(static_cast<size_t>(info.frame_size + info.journal_size));
  SchunkPtr schunk = MakeSchunk(frame.snapshot(), urlpath, &io);
  if (schunk == nullptr) return absl::DataLossError("frame: its parameters are wrong");
  std::unique_ptr<blosc2_frame_s> memory = MakeMemoryFrame(*schunk, cframe, frame.snapshot());
  static_cast<void>(owner.release());
  memory->KeepCframe(false);
  schunk->frame =
      std::make_unique<CallbackFrame>(*schunk, std::move(memory), offset == 0).release();
  return schunk;
}

// Reads all chunks, since an edit gives their files other numbers.
absl::StatusOr<SchunkPtr> OpenDirectory(const char* urlpath, const blosc2_io& io) {
  const std::string folder = FolderOf(urlpath);
  const auto files = std::make_shared<storage::MemoryFileSystem>();
  CAIRN_ASSIGN_OR_RETURN(
      const Frame frame,
      Frame::Open(folder, {.use_mmap = false, .file_system = MakeCopiedFolder(folder, io, files)}));
  const Snapshot snapshot = frame.snapshot();
  SchunkPtr schunk = MakeSchunk(snapshot, urlpath, &io);
  if (schunk == nullptr) return absl::DataLossError("frame: its parameters are wrong");
  std::unique_ptr<blosc2_frame_s> memory = MakeMemoryFrame(*schunk);
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    CAIRN_ASSIGN_OR_RETURN(Chunk chunk, snapshot.GetChunk(i));
    CAIRN_RETURN_IF_ERROR(memory->Insert(i, std::move(chunk)));
  }
  auto made = std::make_unique<CallbackFrame>(*schunk, std::move(memory), true);
  made->Found({.files = files, .chunks = ChunkFilesOf(snapshot)});
  schunk->frame = made.release();
  return schunk;
}

}  // namespace

absl::StatusOr<SchunkPtr> OpenCallbackFrame(const char* urlpath, int64_t offset,
                                            const blosc2_io& io) {
  struct stat found = {};
  // As with C-Blosc2, the folder itself is one of the operating system.
  const bool is_folder = stat(urlpath, &found) == 0 && S_ISDIR(found.st_mode);
  if (!is_folder) return OpenContiguous(urlpath, offset, io);
  if (offset != 0) return absl::InvalidArgumentError("I/O: a directory has no offset");
  return OpenDirectory(urlpath, io);
}

absl::StatusOr<std::unique_ptr<blosc2_frame_s>> CreateCallbackFrame(const blosc2_schunk& schunk) {
  if (!schunk.storage->contiguous) {
    const std::string folder = FolderOf(schunk.storage->urlpath);
    if (mkdir(folder.c_str(), 0777) != 0) {
      return absl::AlreadyExistsError(absl::StrFormat("%s: the directory cannot be made", folder));
    }
  }
  auto frame = std::make_unique<CallbackFrame>(schunk, MakeMemoryFrame(schunk), true);
  CAIRN_RETURN_IF_ERROR(frame->Settle());
  return frame;
}

}  // namespace cairn::blosc2_api
