// Files as C-Blosc2 opens them, for programs that call these functions themselves.
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

std::FILE* FileOf(void* stream) {
  return stream == nullptr ? nullptr : static_cast<blosc2_stdio_file*>(stream)->file;
}

// Moves bytes between memory and a place of the file. Returns the number of complete items.
template <typename Move>
int64_t MoveItems(int64_t size, int64_t nitems, int64_t position, std::FILE* file,
                  const Move& move) {
  if (file == nullptr || size <= 0 || nitems < 0 || position < 0 ||
      nitems > std::numeric_limits<int64_t>::max() / size || std::fflush(file) != 0) {
    Failed(BLOSC2_ERROR_INVALID_PARAM, "file: wrong arguments");
    return 0;
  }
  int64_t done = 0;
  while (done < size * nitems) {
    const ssize_t moved = move(fileno(file), done, size * nitems - done, position + done);
    if (moved <= 0) break;
    done += moved;
  }
  return done / size;
}

}  // namespace

}  // namespace cairn::blosc2_api

using cairn::blosc2_api::Failed;
using cairn::blosc2_api::FileOf;

void* blosc2_stdio_open(const char* urlpath, const char* mode, void* /*params*/) {
  std::FILE* const file =
      urlpath == nullptr || mode == nullptr ? nullptr : std::fopen(urlpath, mode);
  if (file == nullptr) {
    Failed(BLOSC2_ERROR_FILE_OPEN, "file: it cannot be opened");
    return nullptr;
  }
  return new blosc2_stdio_file{.file = file};
}

int blosc2_stdio_close(void* stream) {
  if (FileOf(stream) == nullptr) return Failed(-1, "file: it is not open");
  const std::unique_ptr<blosc2_stdio_file> file(static_cast<blosc2_stdio_file*>(stream));
  return std::fclose(file->file);
}

int64_t blosc2_stdio_size(void* stream) {
  std::FILE* const file = FileOf(stream);
  struct stat status {};
  if (file == nullptr || std::fflush(file) != 0 || fstat(fileno(file), &status) != 0) {
    return Failed(-1, "file: its size is not known");
  }
  return status.st_size;
}

int64_t blosc2_stdio_write(const void* ptr, int64_t size, int64_t nitems, int64_t position,
                           void* stream) {
  if (ptr == nullptr) return 0;
  const auto* const bytes = static_cast<const char*>(ptr);
  return cairn::blosc2_api::MoveItems(
      size, nitems, position, FileOf(stream), [bytes](int fd, int64_t at, int64_t count, off_t to) {
        return pwrite(fd, bytes + at, static_cast<size_t>(count), to);
      });
}

int64_t blosc2_stdio_read(void** ptr, int64_t size, int64_t nitems, int64_t position,
                          void* stream) {
  if (ptr == nullptr || *ptr == nullptr) return 0;
  auto* const bytes = static_cast<char*>(*ptr);
  return cairn::blosc2_api::MoveItems(size, nitems, position, FileOf(stream),
                                      [bytes](int fd, int64_t at, int64_t count, off_t from) {
                                        return pread(fd, bytes + at, static_cast<size_t>(count),
                                                     from);
                                      });
}

int blosc2_stdio_truncate(void* stream, int64_t size) {
  std::FILE* const file = FileOf(stream);
  if (file == nullptr || size < 0 || std::fflush(file) != 0) {
    return Failed(-1, "file: it cannot be cut");
  }
  return ftruncate(fileno(file), size);
}

int blosc2_stdio_destroy(void* /*params*/) { return 0; }
