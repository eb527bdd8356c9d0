// Mapped files as C-Blosc2 opens them, for programs that call these functions themselves. The
// stream of a file is the program's own blosc2_stdio_mmap.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/bytes.h"
#include "engine/blosc2_api/files/mmap_mode.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

std::optional<MmapMode> ModeOf(const blosc2_stdio_mmap& mapped) {
  const std::string_view mode = mapped.mode == nullptr ? "" : mapped.mode;
  if (mode == "r") return MmapMode::kRead;
  if (mode == "r+") return MmapMode::kUpdate;
  if (mode == "w+") return MmapMode::kCreate;
  if (mode == "c") return MmapMode::kCopyOnWrite;
  return std::nullopt;
}

namespace {

blosc2_stdio_mmap* MappedOf(void* stream) {
  auto* const mapped = static_cast<blosc2_stdio_mmap*>(stream);
  return mapped == nullptr || mapped->addr == nullptr ? nullptr : mapped;
}

const char* OpeningOf(MmapMode mode) {
  switch (mode) {
    case MmapMode::kUpdate:
      return "rb+";
    case MmapMode::kCreate:
      return "wb+";
    default:
      return "rb";
  }
}

// Sizes are signed in older headers.
size_t FileSize(const blosc2_stdio_mmap& mapped) { return static_cast<size_t>(mapped.file_size); }
size_t MappedSize(const blosc2_stdio_mmap& mapped) {
  return static_cast<size_t>(mapped.mapping_size);
}
void SetFileSize(blosc2_stdio_mmap& mapped, size_t size) {
  mapped.file_size = static_cast<decltype(mapped.file_size)>(size);
}
void SetMappedSize(blosc2_stdio_mmap& mapped, size_t size) {
  mapped.mapping_size = static_cast<decltype(mapped.mapping_size)>(size);
}

// Maps `size` bytes of the file. What lies past its end is there for writes that make it longer.
bool MapShared(blosc2_stdio_mmap& mapped, size_t size) {
  void* const at = mapped.addr == nullptr
                       ? mmap(nullptr, size, static_cast<int>(mapped.access_flags),
                              static_cast<int>(mapped.map_flags), mapped.fd, 0)
                       : mremap(mapped.addr, MappedSize(mapped), size, MREMAP_MAYMOVE);
  if (at == MAP_FAILED) return false;
  mapped.addr = static_cast<char*>(at);
  SetMappedSize(mapped, size);
  return true;
}

// Maps memory whose beginning is a copy of the file. A page takes memory when it is written.
bool MapCopy(blosc2_stdio_mmap& mapped, size_t size) {
  const int access = static_cast<int>(mapped.access_flags);
  void* const at = mmap(nullptr, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  if (mapped.addr != nullptr) {
    const auto kept = static_cast<int64_t>(FileSize(mapped));
    CopyBytes(BytesAt(mapped.addr, kept), MutableBytesAt(at, kept));
    munmap(mapped.addr, MappedSize(mapped));
  } else if (FileSize(mapped) > 0 &&
             mmap(at, FileSize(mapped), access, static_cast<int>(mapped.map_flags) | MAP_FIXED,
                  mapped.fd, 0) == MAP_FAILED) {
    munmap(at, size);
    return false;
  }
  mapped.addr = static_cast<char*>(at);
  SetMappedSize(mapped, size);
  return true;
}

bool Map(blosc2_stdio_mmap& mapped, size_t size) {
  return mapped.is_memory_only ? MapCopy(mapped, size) : MapShared(mapped, size);
}

// Makes the file this long. Returns false if that is not possible.
bool Resize(blosc2_stdio_mmap& mapped, size_t size) {
  if (!mapped.is_memory_only && ftruncate(mapped.fd, static_cast<off_t>(size)) != 0) return false;
  if (size > MappedSize(mapped) && !Map(mapped, std::max(size, 2 * MappedSize(mapped)))) {
    return false;
  }
  SetFileSize(mapped, size);
  return true;
}

bool OpenMapped(blosc2_stdio_mmap& mapped, MmapMode mode, const char* path) {
  mapped.file = std::fopen(path, OpeningOf(mode));
  if (mapped.file == nullptr) return false;
  mapped.fd = fileno(mapped.file);
  mapped.urlpath = strdup(path);
  struct stat status {};
  if (mapped.urlpath == nullptr || fstat(mapped.fd, &status) != 0) return false;
  SetFileSize(mapped, static_cast<size_t>(status.st_size));
  mapped.is_memory_only = mode == MmapMode::kCopyOnWrite;
  mapped.access_flags = mode == MmapMode::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  mapped.map_flags = mapped.is_memory_only ? MAP_PRIVATE : MAP_SHARED;
  const size_t room =
      mode == MmapMode::kRead ? 0 : static_cast<size_t>(mapped.initial_mapping_size);
  return Map(mapped, std::max<size_t>({FileSize(mapped), room, 1}));
}

// Returns the bytes of these items, or a negative number if there cannot be so many.
int64_t BytesOf(int64_t size, int64_t nitems, int64_t position) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  if (size <= 0 || nitems < 0 || position < 0 || nitems > (kMost - position) / size) return -1;
  return size * nitems;
}

}  // namespace

void Unmap(blosc2_stdio_mmap& mapped) {
  if (mapped.addr != nullptr) munmap(mapped.addr, MappedSize(mapped));
  if (mapped.file != nullptr) std::fclose(mapped.file);
  std::free(mapped.urlpath);
  mapped.addr = nullptr;
  mapped.file = nullptr;
  mapped.urlpath = nullptr;
  mapped.fd = -1;
}

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::BytesOf;
using cairn::blosc2_api::Failed;
using cairn::blosc2_api::MappedOf;

void* blosc2_stdio_mmap_open(const char* urlpath, const char* /*mode*/, void* params) {
  auto* const mapped = static_cast<blosc2_stdio_mmap*>(params);
  if (urlpath == nullptr || mapped == nullptr) {
    Failed(BLOSC2_ERROR_NULL_POINTER, "mapped file: there is no path or no blosc2_stdio_mmap");
    return nullptr;
  }
  if (mapped->addr != nullptr) {
    if (std::string_view(mapped->urlpath) == urlpath) return mapped;
    Failed(BLOSC2_ERROR_FILE_OPEN, "mapped file: the blosc2_stdio_mmap is that of another file");
    return nullptr;
  }
  const auto mode = cairn::blosc2_api::ModeOf(*mapped);
  if (mode.has_value() && cairn::blosc2_api::OpenMapped(*mapped, *mode, urlpath)) return mapped;
  cairn::blosc2_api::Unmap(*mapped);
  Failed(BLOSC2_ERROR_FILE_OPEN, "mapped file: it cannot be opened, or its mode is not known");
  return nullptr;
}

// The file stays mapped until blosc2_stdio_mmap_destroy.
int blosc2_stdio_mmap_close(void* stream) {
  return MappedOf(stream) == nullptr ? Failed(-1, "mapped file: it is not open") : 0;
}

int64_t blosc2_stdio_mmap_size(void* stream) {
  const blosc2_stdio_mmap* const mapped = MappedOf(stream);
  if (mapped == nullptr) return Failed(-1, "mapped file: it is not open");
  return static_cast<int64_t>(cairn::blosc2_api::FileSize(*mapped));
}

int64_t blosc2_stdio_mmap_write(const void* ptr, int64_t size, int64_t nitems, int64_t position,
                                void* stream) {
  blosc2_stdio_mmap* const mapped = MappedOf(stream);
  const int64_t nbytes = BytesOf(size, nitems, position);
  if (mapped == nullptr || ptr == nullptr || nbytes < 0 ||
      (mapped->access_flags & PROT_WRITE) == 0) {
    Failed(BLOSC2_ERROR_INVALID_PARAM, "mapped file: it cannot be written like this");
    return 0;
  }
  const auto end = static_cast<size_t>(position + nbytes);
  if (end > cairn::blosc2_api::FileSize(*mapped) && !cairn::blosc2_api::Resize(*mapped, end)) {
    Failed(BLOSC2_ERROR_FILE_WRITE, "mapped file: it cannot be made longer");
    return 0;
  }
  cairn::CopyBytes(cairn::blosc2_api::BytesAt(ptr, nbytes),
                   cairn::blosc2_api::MutableBytesAt(mapped->addr + position, nbytes));
  return nitems;
}

int64_t blosc2_stdio_mmap_read(void** ptr, int64_t size, int64_t nitems, int64_t position,
                               void* stream) {
  const blosc2_stdio_mmap* const mapped = MappedOf(stream);
  const int64_t nbytes = BytesOf(size, nitems, position);
  if (mapped == nullptr || ptr == nullptr || nbytes < 0 ||
      static_cast<size_t>(position + nbytes) > cairn::blosc2_api::FileSize(*mapped)) {
    if (ptr != nullptr) *ptr = nullptr;
    Failed(BLOSC2_ERROR_FILE_READ, "mapped file: it does not have these bytes");
    return 0;
  }
  *ptr = mapped->addr + position;
  return nitems;
}

int blosc2_stdio_mmap_truncate(void* stream, int64_t size) {
  blosc2_stdio_mmap* const mapped = MappedOf(stream);
  if (mapped == nullptr || size < 0 || (mapped->access_flags & PROT_WRITE) == 0) {
    return Failed(-1, "mapped file: it cannot be cut");
  }
  return cairn::blosc2_api::Resize(*mapped, static_cast<size_t>(size))
             ? 0
             : Failed(-1, "mapped file: its size cannot be changed");
}

int blosc2_stdio_mmap_destroy(void* params) {
  auto* const mapped = static_cast<blosc2_stdio_mmap*>(params);
  if (mapped == nullptr) return Failed(-1, "mapped file: there is no blosc2_stdio_mmap");
  const bool was_open = MappedOf(mapped) != nullptr;
  cairn::blosc2_api::Unmap(*mapped);
  if (mapped->needs_free) std::free(mapped);
  return was_open ? 0 : Failed(-1, "mapped file: it is not open");
}
