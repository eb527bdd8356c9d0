// Small frames: how to make them, and what they hold.
#ifndef CAIRN_TESTS_SUPPORT_FRAMES_H_
#define CAIRN_TESTS_SUPPORT_FRAMES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "tests/support/bytes.h"

namespace cairn::test {

// Options of writers that keep the history.
inline const WriterOptions kKeepAll = {.keep_generations = UINT64_MAX};

// The bytes of a chunk in tests where its size does not matter.
inline constexpr int32_t kSmallChunk = 64;

// Returns options for a new frame with chunks of `chunksize`.
CreateOptions Cut(int32_t typesize, ChunkSize chunksize);
// Returns options for chunks that are stored as they are, so that the written bytes lie in the
// file.
CreateOptions PlainCopies(ChunkSize chunksize);
CreateOptions OfArray(const ArrayInfo& array, int32_t typesize = 1);
// Returns an array of bytes: four chunks of 24, each of four blocks of 6.
ArrayInfo SmallArray();
Frame NewInMemory(const CreateOptions& options);

// Makes a frame under `path` in one go, with Build.
absl::Status WriteFrame(const std::string& path, const CreateOptions& options, Bytes data,
                        const std::map<std::string, std::string>& vlmetalayers = {});
// Appends with a writer of its own.
absl::Status AppendTo(const std::string& path, Bytes data, const WriterOptions& options = {},
                      std::shared_ptr<FileSystem> files = nullptr);

CompressionOptions OfTypesize(int32_t typesize);
Buffer Compressed(Bytes items, const CompressionOptions& options);
// Returns a chunk whose blocks have these sizes. They must add up to the size of `items`.
Buffer CompressedVl(Bytes items, std::span<const size_t> sizes, int32_t typesize);

// Returns all of the decoded data.
absl::StatusOr<Buffer> DataOf(const Snapshot& snapshot);
// Returns the data. The test fails if it cannot be read.
Buffer ContentOf(const Snapshot& snapshot);
// Everything that a user puts into a frame.
struct FrameContent {
  Buffer data = {};
  std::map<std::string, std::string> metalayers = {};
  std::map<std::string, std::string> vlmetalayers = {};
  bool operator==(const FrameContent&) const = default;
};
absl::StatusOr<FrameContent> FullContentOf(const Snapshot& snapshot);
// Returns the chunks as GetChunk gives them.
std::vector<Buffer> ChunksOf(const Snapshot& snapshot);
// Returns the bytes that the live chunks take.
int64_t StoredBytes(const Snapshot& snapshot);
// Expects that content, chunk sizes and the numbers of `info` fit each other and that Verify finds
// nothing.
void ExpectHolds(const Snapshot& snapshot, Bytes content);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FRAMES_H_
