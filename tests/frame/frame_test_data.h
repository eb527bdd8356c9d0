// Data, frames and comparisons that the tests of this folder share.
#ifndef CAIRN_TESTS_FRAME_FRAME_TEST_DATA_H_
#define CAIRN_TESTS_FRAME_FRAME_TEST_DATA_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "cairn/frame.h"

namespace cairn::test {

using Buffer = std::vector<std::byte>;

// Bytes of a chunk where its size does not matter.
inline constexpr int32_t kSmallChunk = 64;

// For ASSERT_TRUE: a failure shows the message.
testing::AssertionResult IsOk(const absl::Status& status);
template <typename T>
testing::AssertionResult IsOk(const absl::StatusOr<T>& result) {
  return IsOk(result.status());
}

// Compressible bytes, none of them zero.
Buffer MakeItems(size_t size, uint64_t seed = 1);
// Incompressible bytes.
Buffer MakeNoise(size_t size, uint64_t seed = 1);
// `value` over and over, `size` bytes.
Buffer Repeated(Bytes value, size_t size);
void AddTo(Buffer& all, Bytes more);

// A new frame cut at `chunksize`.
CreateOptions Cut(int32_t typesize, int32_t chunksize);
Frame NewInMemory(const CreateOptions& options);

CompressionOptions OfTypesize(int32_t typesize);
Buffer Compressed(Bytes items, const CompressionOptions& options);
// A chunk whose blocks have these sizes; they end where `items` do.
Buffer CompressedVl(Bytes items, std::span<const size_t> sizes, int32_t typesize);

// All of the decoded data.
Buffer ContentOf(const Snapshot& snapshot);
// The chunks as GetChunk gives them.
std::vector<Buffer> ChunksOf(const Snapshot& snapshot);
// Content, chunk sizes and numbers of `info` fit each other, and Verify finds nothing.
void ExpectHolds(const Snapshot& snapshot, Bytes content);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_FRAME_FRAME_TEST_DATA_H_
