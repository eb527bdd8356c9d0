// Clocks, files and indexes.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <time.h>

#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

namespace fs = std::filesystem;

// Removes the files of a directory, which has no directories in it, and the directory.
int RemoveDirectory(const fs::path& path) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (!fs::remove(entry->path(), error) || error) break;
  }
  if (error || !fs::remove(path, error) || error) {
    return Failed(BLOSC2_ERROR_FILE_REMOVE, ("cannot remove " + path.string()).c_str());
  }
  return BLOSC2_ERROR_SUCCESS;
}

}  // namespace

}  // namespace cairn::blosc2_api

namespace fs = std::filesystem;
using cairn::blosc2_api::Failed;

int blosc2_remove_dir(const char* path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return Failed(BLOSC2_ERROR_FILE_OPEN, "remove: not a directory");
  }
  return cairn::blosc2_api::RemoveDirectory(path);
}

int blosc2_remove_urlpath(const char* path) {
  if (path == nullptr) return BLOSC2_ERROR_SUCCESS;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found) return BLOSC2_ERROR_SUCCESS;
  if (fs::is_directory(path, error)) return blosc2_remove_dir(path);
  if (!fs::remove(path, error) || error) {
    return Failed(BLOSC2_ERROR_FILE_REMOVE, "remove: the file cannot be removed");
  }
  fs::remove(std::string(path) + ".b2lock", error);  // of a frame, if it has one
  return BLOSC2_ERROR_SUCCESS;
}

int blosc2_rename_urlpath(char* old_urlpath, char* new_path) {
  std::error_code error;
  fs::rename(old_urlpath, new_path, error);
  return error ? Failed(BLOSC2_ERROR_FAILURE, "rename: the file cannot be renamed")
               : BLOSC2_ERROR_SUCCESS;
}

void blosc2_unidim_to_multidim(uint8_t ndim, int64_t* shape, int64_t i, int64_t* index) {
  for (int axis = ndim - 1; axis > 0; --axis) {
    const int64_t extent = shape[axis] > 0 ? shape[axis] : 1;
    index[axis] = i % extent;
    i /= extent;
  }
  if (ndim > 0) index[0] = i;
}

void blosc2_multidim_to_unidim(const int64_t* index, int8_t ndim, const int64_t* strides,
                               int64_t* i) {
  *i = 0;
  for (int axis = 0; axis < ndim; ++axis) *i += index[axis] * strides[axis];
}

void blosc_set_timestamp(blosc_timestamp_t* timestamp) {
  clock_gettime(CLOCK_MONOTONIC, timestamp);
}

double blosc_elapsed_nsecs(blosc_timestamp_t start_time, blosc_timestamp_t end_time) {
  return 1e9 * static_cast<double>(end_time.tv_sec - start_time.tv_sec) +
         static_cast<double>(end_time.tv_nsec - start_time.tv_nsec);
}

double blosc_elapsed_secs(blosc_timestamp_t start_time, blosc_timestamp_t end_time) {
  return 1e-9 * blosc_elapsed_nsecs(start_time, end_time);
}
