// Chunks as strangers bring them, good and bad, with what a frame must make of them.
#ifndef CAIRN_TESTS_FRAME_SEQUENCES_RANDOM_CHUNKS_H_
#define CAIRN_TESTS_FRAME_SEQUENCES_RANDOM_CHUNKS_H_

#include <cstdint>
#include <random>

#include "tests/support/bytes.h"
#include "tests/support/frame_model.h"

namespace cairn::test {

using Random = std::mt19937_64;

inline size_t Below(Random& random, size_t limit) { return static_cast<size_t>(random() % limit); }
inline bool Chance(Random& random, size_t out_of) { return Below(random, out_of) == 0; }

// Zeros, compressible bytes or noise.
Buffer RandomData(Random& random, size_t size);

struct RandomChunk {
  Buffer bytes;
  NewChunk content;
};

// Any codec, filters and form that a frame of the typesize takes: regular ones, short headers, old
// versions, memcpyed chunks and special values.
RandomChunk MakeRegularChunk(Random& random, int32_t typesize, size_t nbytes);
// A chunk of variable blocks.
RandomChunk MakeVlChunk(Random& random, int32_t typesize, size_t nbytes);
// Makes a chunk that must be refused in every frame.
RandomChunk MakeBadChunk(Random& random, int32_t typesize, size_t nbytes);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_FRAME_SEQUENCES_RANDOM_CHUNKS_H_
