// Frames of a few KB, their bytes on the disk, and what they hold.
#ifndef CAIRN_TESTS_FRAME_SMALL_FRAMES_H_
#define CAIRN_TESTS_FRAME_SMALL_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"

namespace cairn::test {

// Bytes that do not compress; each seed gives others.
std::vector<std::byte> Noise(size_t size, uint64_t seed);

// A file as it is; the test fails when it cannot be read or written.
std::vector<std::byte> FileBytes(const std::string& path);
void PutFileBytes(const std::string& path, Bytes bytes);
// Names in a directory, sorted.
std::vector<std::string> NamesIn(const std::string& directory);

// Where the parts of a contiguous frame lie, by its header and the end of its trailer alone.
struct FrameParts {
  int64_t header_len = 0;
  int64_t index_begin = 0;
  int64_t trailer_begin = 0;
  int64_t frame_size = 0;
};
FrameParts PartsOf(Bytes frame);

// Changes the trailer as C-Blosc2 does when it writes it: type 0 and no fingerprint.
void DropFingerprint(std::vector<std::byte>& frame);

// All that a user puts into a frame.
struct FrameContent {
  std::vector<std::byte> data = {};
  std::map<std::string, std::string> metalayers = {};
  std::map<std::string, std::string> vlmetalayers = {};
  bool operator==(const FrameContent&) const = default;
};
absl::StatusOr<FrameContent> FullContentOf(const Snapshot& snapshot);
absl::StatusOr<std::vector<std::byte>> DataOf(const Snapshot& snapshot);

// Options of a frame of plain copies: what is written is what lies in the file.
CreateOptions PlainCopies(int32_t chunksize);

// Makes a frame under `path` in one go, with Build.
absl::Status WriteFrame(const std::string& path, const CreateOptions& options, Bytes data,
                        const std::map<std::string, std::string>& vlmetalayers = {});

// Appends in a writer of its own.
absl::Status AppendTo(const std::string& path, Bytes data);

// The bytes that the live chunks take.
int64_t StoredBytes(const Snapshot& snapshot);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_FRAME_SMALL_FRAMES_H_
