#include "tools/cairn/io/files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sys/stat.h>
#include <system_error>

#include "cairn/copy_files.h"

#ifdef CAIRN_TOOL_S3
#include <atomic>

#include "absl/strings/str_cat.h"

#include "cairn/s3.h"
#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/io/patience.h"
#include "tools/cairn/text/complain.h"
#endif

namespace cairn::tool {

#ifdef CAIRN_TOOL_S3

namespace {

// Reports a wait once, and ends it at a signal.
bool KeepWaiting(const TransportWait& wait, std::atomic<bool>& told) {
  if (wait.time < kSilence) {
    told = false;
  } else if (!told.exchange(true)) {
    Complain(
        absl::StrCat("waiting for ", wait.store, wait.failure.empty() ? "" : ": ", wait.failure));
  }
  return !SignalHasCome();
}

absl::StatusOr<S3Options> OptionsOfStores() {
  absl::StatusOr<S3Options> options = S3OptionsFromEnvironment();
  if (options.ok()) {
    const auto told = std::make_shared<std::atomic<bool>>(false);
    options->transport.keep_waiting = [told](const TransportWait& wait) {
      return KeepWaiting(wait, *told);
    };
    options->transport.notice = [](const std::string& text) { Complain(text); };
  }
  return options;
}

// Returns the files of all object stores. They live as long as the process.
std::shared_ptr<FileSystem> StoreFiles() {
  static const std::shared_ptr<FileSystem> files = MakeUriFileSystem(OptionsOfStores());
  return files;
}

}  // namespace

bool IsUri(const std::string& path) { return IsObjectUri(path); }

#else

namespace {
std::shared_ptr<FileSystem> StoreFiles() { return nullptr; }
}  // namespace

bool IsUri(const std::string& /*path*/) { return false; }

#endif

namespace {

// Returns the paths of the files in a directory, in order. Returns nothing for a file.
std::vector<std::string> FilesIn(const std::string& path) {
  std::vector<std::string> files;
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

int64_t BytesOfBlocks(const std::string& path) {
  constexpr int64_t kBlock = 512;
  struct stat found = {};
  return ::stat(path.c_str(), &found) == 0 ? kBlock * found.st_blocks : 0;
}

}  // namespace

std::vector<std::string> FramesAt(const std::vector<std::string>& paths) {
  std::vector<std::string> frames;
  for (const std::string& path : paths) {
    const size_t before = frames.size();
    std::ranges::copy_if(FilesIn(path), std::back_inserter(frames), [](const std::string& file) {
      const std::string name = std::filesystem::path(file).filename();
      return name.starts_with("log.") && name.ends_with(".b2frame");
    });
    if (frames.size() == before) frames.push_back(path);
  }
  return frames;
}

std::optional<int64_t> DiskBytesAt(const std::string& path) {
  if (IsUri(path)) return std::nullopt;
  int64_t bytes = BytesOfBlocks(path);
  for (const std::string& file : FilesIn(path)) bytes += BytesOfBlocks(file);
  return bytes;
}

std::shared_ptr<FileSystem> FilesAt(const std::string& path) {
  return IsUri(path) ? StoreFiles() : PosixFileSystem();
}

std::shared_ptr<FileSystem> FilesForCopy(const std::string& from, const std::string& to) {
  if (!IsUri(from) && !IsUri(to)) return FilesForCopyOf(from);
  return FilesAt(to);
}

std::optional<ObjectStoreStats> RequestsOf(const std::string& path) {
  if (!IsUri(path)) return std::nullopt;
  const std::shared_ptr<ObjectStore> store = StoreFiles()->ObjectsIn(path).store;
  return store != nullptr ? std::optional(store->stats()) : std::nullopt;
}

}  // namespace cairn::tool
