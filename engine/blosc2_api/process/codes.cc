#include "engine/blosc2_api/process/codes.h"

#include <cstdio>
#include <string>

#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/environment.h"

namespace cairn::blosc2_api {

namespace {

int CodeOfError(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return BLOSC2_ERROR_SUCCESS;
    case absl::StatusCode::kDataLoss:
      return BLOSC2_ERROR_DATA;
    case absl::StatusCode::kUnimplemented:
      return BLOSC2_ERROR_CODEC_SUPPORT;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return BLOSC2_ERROR_INVALID_PARAM;
    case absl::StatusCode::kNotFound:
      return BLOSC2_ERROR_NOT_FOUND;
    case absl::StatusCode::kUnavailable:
      return kErrorLock;
    case absl::StatusCode::kResourceExhausted:
      return BLOSC2_ERROR_MEMORY_ALLOC;
    default:
      return BLOSC2_ERROR_FAILURE;
  }
}

}  // namespace

int Failed(int code, const char* message) {
  if (WantsTrace()) {
    std::fprintf(stderr, "[error] - cairn: %s\n", message);
  }
  return code;
}

int CodeOf(const absl::Status& status) {
  if (status.ok()) return BLOSC2_ERROR_SUCCESS;
  return Failed(CodeOfError(status.code()), std::string(status.message()).c_str());
}

}  // namespace cairn::blosc2_api

// The texts are those of C-Blosc2, which programs may compare.
const char* blosc2_error_string(int error_code) {
  switch (error_code) {
    case BLOSC2_ERROR_FAILURE:
      return "Generic failure";
    case BLOSC2_ERROR_STREAM:
      return "Bad stream";
    case BLOSC2_ERROR_DATA:
      return "Invalid data";
    case BLOSC2_ERROR_MEMORY_ALLOC:
      return "Memory alloc/realloc failure";
    case BLOSC2_ERROR_READ_BUFFER:
      return "Not enough space to read";
    case BLOSC2_ERROR_WRITE_BUFFER:
      return "Not enough space to write";
    case BLOSC2_ERROR_CODEC_SUPPORT:
      return "Codec not supported";
    case BLOSC2_ERROR_CODEC_PARAM:
      return "Invalid parameter supplied to codec";
    case BLOSC2_ERROR_CODEC_DICT:
      return "Codec dictionary error";
    case BLOSC2_ERROR_VERSION_SUPPORT:
      return "Version not supported";
    case BLOSC2_ERROR_INVALID_HEADER:
      return "Invalid value in header";
    case BLOSC2_ERROR_INVALID_PARAM:
      return "Invalid parameter supplied to function";
    case BLOSC2_ERROR_FILE_READ:
      return "File read failure";
    case BLOSC2_ERROR_FILE_WRITE:
      return "File write failure";
    case BLOSC2_ERROR_FILE_OPEN:
      return "File open failure";
    case BLOSC2_ERROR_NOT_FOUND:
      return "Not found";
    case BLOSC2_ERROR_RUN_LENGTH:
      return "Bad run length encoding";
    case BLOSC2_ERROR_FILTER_PIPELINE:
      return "Filter pipeline error";
    case BLOSC2_ERROR_CHUNK_INSERT:
      return "Chunk insert failure";
    case BLOSC2_ERROR_CHUNK_APPEND:
      return "Chunk append failure";
    case BLOSC2_ERROR_CHUNK_UPDATE:
      return "Chunk update failure";
    case BLOSC2_ERROR_2GB_LIMIT:
      return "Sizes larger than 2gb not supported";
    case BLOSC2_ERROR_SCHUNK_COPY:
      return "Super-chunk copy failure";
    case BLOSC2_ERROR_FRAME_TYPE:
      return "Wrong type for frame";
    case BLOSC2_ERROR_FILE_TRUNCATE:
      return "File truncate failure";
    case cairn::blosc2_api::kErrorLock:
      return "Frame lock failure";
    case BLOSC2_ERROR_THREAD_CREATE:
      return "Thread or thread context creation failure";
    case BLOSC2_ERROR_POSTFILTER:
      return "Postfilter failure";
    case BLOSC2_ERROR_FRAME_SPECIAL:
      return "Special frame failure";
    case BLOSC2_ERROR_SCHUNK_SPECIAL:
      return "Special super-chunk failure";
    case BLOSC2_ERROR_PLUGIN_IO:
      return "IO plugin error";
    case BLOSC2_ERROR_FILE_REMOVE:
      return "Remove file failure";
    case BLOSC2_ERROR_NULL_POINTER:
      return "Pointer is null";
    case BLOSC2_ERROR_INVALID_INDEX:
      return "Invalid index";
    case BLOSC2_ERROR_METALAYER_NOT_FOUND:
      return "Metalayer has not been found";
    case BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED:
      return "Maximum buffersize exceeded";
    case BLOSC2_ERROR_TUNER:
      return "Tuner failure";
    default:
      return "Unknown error";
  }
}
