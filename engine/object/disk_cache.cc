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
// The files are looked at each time that this part of the capacity has been written.
constexpr int64_t kParts = 16;

// The place of a file of the cache: `name` in one of 256 folders.
struct Place {
  std::string folder;
  std::string name;
};

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr size_t kFolderDigits = 2;
constexpr size_t kNameDigits = 14;
constexpr std::string_view kPage = ".page";

Place PlaceOf(std::string_view key) {
  const std::string digits = absl::StrFormat("%016x", Xxh3(AsBytes(key)));
  return {.folder = digits.substr(0, kFolderDigits),
          .name = absl::StrFormat("%s%s", digits.substr(kFolderDigits), kPage)};
}

// Returns true for the names that Put gives. Every other file in the directory is somebody else's.
bool IsOurs(std::string_view name) {
  return name.size() >= kNameDigits + kPage.size() &&
         name.substr(0, kNameDigits).find_first_not_of(kHexDigits) == std::string_view::npos &&
         name.substr(kNameDigits, kPage.size()) == kPage &&
         (name.size() == kNameDigits + kPage.size() || name.ends_with(".tmp"));
}

// Returns the beginning of a file, which tells whose bytes follow.
std::string KeyOf(std::string_view store, std::string_view object, int64_t page) {
  return absl::StrFormat("%s\n%s\n%d\n", store, object, page);
}

// Opens a folder so that no link in it is followed. With `make`, makes it if it is missing. A
// folder is open to others only if they may write to the directory, too, because not everybody may
// see what a program with credentials has read.
std::shared_ptr<FileSystem> OpenFolder(const std::string& directory, const std::string& folder,
                                       bool make) {
  const fs::path path = fs::path(directory) / folder;
  std::error_code error;
  if (make && !fs::exists(path, error)) {
    if (fs::create_directories(directory, error)) {
      fs::permissions(directory, fs::perms::owner_all, error);
    }
    if (fs::create_directory(path, error)) {
      const fs::perms around = fs::status(directory, error).permissions();
      const auto has = [&](fs::perms perm) { return (around & perm) != fs::perms::none; };
      fs::perms may = fs::perms::owner_all;
      const bool shared = !has(fs::perms::sticky_bit);  // others may remove files there
      if (shared && has(fs::perms::group_write)) may |= fs::perms::group_all;
      if (shared && has(fs::perms::others_write)) may |= fs::perms::others_all;
      fs::permissions(path, may, error);
    }
  }
  absl::StatusOr<std::shared_ptr<FileSystem>> opened = PosixFileSystem()->OpenDirectory(path);
  return opened.ok() ? *std::move(opened) : nullptr;
}

std::optional<std::vector<std::byte>> ReadFile(FileSystem& folder, const std::string& name,
                                               size_t size) {
  const auto file = folder.Open(name, FileMode::kRead);
  if (!file.ok() || (*file)->Size().value_or(0) != static_cast<int64_t>(size)) return std::nullopt;
  std::vector<std::byte> bytes(size);
  if (!(*file)->ReadAt(0, bytes).ok()) return std::nullopt;
  return bytes;
}

// Writes a file. A name that something other than a file has stays as it is.
bool WriteFile(FileSystem& folder, const std::string& name, Bytes bytes) {
  const std::string temporary = absl::StrFormat("%s.%016x.tmp", name, RandomNumber());
  const auto file = folder.Open(temporary, FileMode::kCreateNew);
  if (!file.ok()) return false;
  if ((*file)->WriteAt(0, bytes).ok() && folder.Rename(temporary, name, true).ok()) return true;
  folder.Remove(temporary).IgnoreError();
  return false;
}

struct CachedFile {
  fs::file_time_type used;
  int64_t size = 0;
  fs::path path;
};

// Lists the files. A folder that cannot be listed does not hide the others.
std::vector<CachedFile> FilesIn(const std::string& directory) {
  std::vector<CachedFile> files;
  for (const char first : kHexDigits) {
    for (const char second : kHexDigits) {
      const fs::path folder = fs::path(directory) / std::string{first, second};
      const auto names = PosixFileSystem()->List(folder);
      if (!names.ok()) continue;
      for (const std::string& name : *names) {
        if (!IsOurs(name)) continue;
        std::error_code gone;
        const auto size = static_cast<int64_t>(fs::file_size(folder / name, gone));
        const fs::file_time_type used = fs::last_write_time(folder / name, gone);
        if (!gone) files.push_back({.used = used, .size = size, .path = folder / name});
      }
    }
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
  const Place place = PlaceOf(key);
  const size_t begin = kHashSize + key.size();
  const std::shared_ptr<FileSystem> folder = OpenFolder(directory_, place.folder, false);
  if (folder == nullptr) return std::nullopt;
  std::optional<std::vector<std::byte>> bytes =
      ReadFile(*folder, place.name, begin + static_cast<size_t>(size));
  if (!bytes.has_value()) return std::nullopt;
  const Bytes hashed = Bytes(*bytes).subspan(kHashSize);
  if (LoadLe<uint64_t>(bytes->data()) != Xxh3(hashed) || !AsText(hashed).starts_with(key)) {
    return std::nullopt;
  }
  std::error_code ignored;
  fs::last_write_time(fs::path(directory_) / place.folder / place.name,
                      fs::file_time_type::clock::now(), ignored);
  bytes->erase(bytes->begin(), bytes->begin() + static_cast<ptrdiff_t>(begin));
  return bytes;
}

void DiskCache::Put(std::string_view object, int64_t page, Bytes bytes) {
  const std::string key = KeyOf(store_, object, page);
  const Place place = PlaceOf(key);
  const std::shared_ptr<FileSystem> folder = OpenFolder(directory_, place.folder, true);
  if (folder == nullptr) return;
  ByteWriter writer;
  writer.Zeros(kHashSize);
  writer.Append(AsBytes(key));
  writer.Append(bytes);
  StoreLe(writer.written().data(), Xxh3(writer.written().subspan(kHashSize)));
  if (!WriteFile(*folder, place.name, writer.written())) return;
  const MutexLock lock(mutex_);
  written_ += static_cast<int64_t>(writer.size());
  if (written_ >= capacity_ / kParts) Trim();
}

// Removes files so that there is space until the next call, for the writes of a few processes.
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
