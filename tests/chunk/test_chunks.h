// Payloads and chunks for the tests of this floor.
#ifndef CAIRN_TESTS_CHUNK_TEST_CHUNKS_H_
#define CAIRN_TESTS_CHUNK_TEST_CHUNKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "cairn/options.h"
#include "engine/base/endian.h"

namespace cairn::chunk {

inline constexpr Codec kCodecs[] = {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib,
                                    Codec::kZstd};

enum class Kind {
  kZeros,
  kRandom,
  kCounter,  // items that count up, little endian
  kMixed,    // stretches of runs, counters and noise
};

// `size` bytes, the same in every run; their heap memory ends with them.
std::vector<std::byte> Payload(Kind kind, size_t size, int32_t typesize = 4);

// The chunk of a payload in MaxCompressedSize room; empty, and a failure, when there is none.
std::vector<std::byte> Compress(Bytes payload, const CompressionOptions& options);
std::vector<std::byte> CompressBlocks(std::span<const Bytes> blocks,
                                      const CompressionOptions& options);

// All of the chunk.
absl::StatusOr<std::vector<std::byte>> Decompress(Bytes chunk, const Registry* registry = nullptr);

// Returns all of the chunk. If it cannot be decoded, returns nothing and fails the test.
std::vector<std::byte> Decoded(Bytes chunk, const Registry* registry = nullptr);

// Checks the facts that other decoders rely on in a chunk that a modern encoder wrote: header
// fields, a usable block size, blocks packed in order after positions and dictionary, streams in
// one of the legal forms and never larger than their decoded bytes.
testing::AssertionResult KeepsWriterRules(Bytes chunk);

inline int32_t Int32At(Bytes chunk, size_t at) {
  return static_cast<int32_t>(LoadLe<uint32_t>(chunk.data() + at));
}

inline void SetInt32(MutableBytes chunk, size_t at, int64_t value) {
  StoreLe<uint32_t>(chunk.data() + at, static_cast<uint32_t>(value));
}

}  // namespace cairn::chunk

#endif  // CAIRN_TESTS_CHUNK_TEST_CHUNKS_H_
