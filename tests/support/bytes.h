// Bytes to fill chunks with. They are equal in every run.
#ifndef CAIRN_TESTS_SUPPORT_BYTES_H_
#define CAIRN_TESTS_SUPPORT_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "cairn/items.h"
#include "cairn/types.h"

namespace cairn::test {

using Buffer = std::vector<std::byte>;

// Returns compressible bytes, none of them zero.
Buffer MakeItems(size_t size, uint64_t seed = 1);
// Returns incompressible bytes.
Buffer MakeNoise(size_t size, uint64_t seed = 1);
// Returns `size` bytes that repeat `value`.
Buffer Repeated(Bytes value, size_t size);
void AddTo(Buffer& all, Bytes more);
Buffer Concatenated(std::initializer_list<Buffer> parts);
// Returns the values of a field of all these items.
Buffer FieldOf(Bytes items, size_t item_size, const FieldSpan& field);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_BYTES_H_
