#include "engine/object/disk_cache.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_format.h"

#include "cairn/file_system.h"
#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/base/random.h"

namespace cairn::object {

namespace {

namespace fs = std::filesystem;

constexpr size_t kHashSize = sizeof(uint64_t);
// After each of these parts of the capacity is written the files are looked at.
constexpr int64_t kParts = 16;

std::string PathOf(const std::string& directory, std::string_view key) {
  const std::string name = absl::StrFormat("%016x", Xxh3(AsBytes(key)));
  return directory + "/" + name.substr(0, 2) + "/" + name.substr(2) + ".page";
}

// What a file begins with: whose bytes follow.
std::string KeyOf(std::string_view store, std::string_view object, int64_t page) {
  return absl::StrFormat("%s\n%s\n%d\n", store, object, page);
}

std::optional<std::vector<std::byte>> ReadFile(const std::string& path, size_t size) {
  const auto file = PosixFileSystem()->Open(path, FileMode::kRead);
  if (!file.ok() || (*file)->Size().value_or(0) != static_cast<int64_t>(size)) return std::nullopt;
  std::vector<std::byte> bytes(size);
  if (!(*file)->ReadAt(0, bytes).ok()) return std::nullopt;
  return bytes;
}

bool WriteFile(const std::string& path, Bytes bytes) {
  const auto file = PosixFileSystem()->Open(path, FileMode::kCreateNew);
  return file.ok() && (*file)->WriteAt(0, bytes).ok();
}

struct CachedFile {
  fs::file_time_type used;
  int64_t size = 0;
  fs::path path;
};

std::vector<CachedFile> FilesIn(const std::string& directory) {
  std::vector<CachedFile> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    const std::string extension = at->path().extension();
    if (extension != ".page" && extension != ".tmp") continue;  // not ours
    std::error_code gone;
    const auto size = static_cast<int64_t>(at->file_size(gone));
    const fs::file_time_type used = at->last_write_time(gone);
    if (!gone) files.push_back({.used = used, .size = size, .path = at->path()});
  }
  return files;
}

}  // namespace

DiskCache::DiskCache(std::string directory, int64_t capacity, std::string store)
    : directory_(std::move(directory)),
      capacity_(capacity),
      store_(std::move(store)),
      written_(capacity) {}

std::optional<std::vector<std::byte>> DiskCache::Get(std::string_view object, int64_t page,
                                                     int64_t size) {
  const std::string key = KeyOf(store_, object, page);
  const std::string path = PathOf(directory_, key);
  const size_t begin = kHashSize + key.size();
  std::optional<std::vector<std::byte>> bytes = ReadFile(path, begin + static_cast<size_t>(size));
  if (!bytes.has_value()) return std::nullopt;
  const Bytes hashed = Bytes(*bytes).subspan(kHashSize);
  if (LoadLe<uint64_t>(bytes->data()) != Xxh3(hashed) || !AsText(hashed).starts_with(key)) {
    return std::nullopt;
  }
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  bytes->erase(bytes->begin(), bytes->begin() + static_cast<int64_t>(begin));
  return bytes;
}

void DiskCache::Put(std::string_view object, int64_t page, Bytes bytes) {
  const std::string key = KeyOf(store_, object, page);
  const std::string path = PathOf(directory_, key);
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return;
  ByteWriter writer;
  writer.Zeros(kHashSize);
  writer.Append(AsBytes(key));
  writer.Append(bytes);
  StoreLe(writer.written().data(), Xxh3(writer.written().subspan(kHashSize)));
  const std::string temporary = absl::StrFormat("%s.%016x.tmp", path, RandomNumber());
  if (!WriteFile(temporary, writer.written())) {
    fs::remove(temporary, error);
    return;
  }
  fs::rename(temporary, path, error);
  const std::lock_guard lock(mutex_);
  written_ += static_cast<int64_t>(writer.size());
  if (written_ >= capacity_ / kParts) Trim();
}

// Leaves space for what is written until the next time, by a few processes.
void DiskCache::Trim() {
  written_ = 0;
  std::vector<CachedFile> files = FilesIn(directory_);
  int64_t total = 0;
  for (const CachedFile& file : files) total += file.size;
  if (total <= capacity_ - capacity_ / kParts) return;
  std::ranges::sort(files, {}, &CachedFile::used);
  for (const CachedFile& file : files) {
    if (total <= capacity_ - capacity_ / 4) return;
    std::error_code ignored;
    fs::remove(file.path, ignored);
    total -= file.size;
  }
}

}  // namespace cairn::object
