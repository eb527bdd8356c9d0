// Helpers that the vector tests share: guarded memory, hashes, files.
#ifndef CAIRN_TESTS_VECTORS_SUPPORT_H_
#define CAIRN_TESTS_VECTORS_SUPPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <xxhash.h>

#include "cairn/types.h"

namespace cairn::vectors {

// Bytes that end right before a page that may not be touched, and begin less than a page after
// another: reads and writes past the end crash, in every build. Pages that are not touched cost
// nothing.
class GuardedBytes {
 public:
  explicit GuardedBytes(size_t size);
  explicit GuardedBytes(Bytes content);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;

  MutableBytes bytes() { return {data_, size_}; }

 private:
  std::byte* map_ = nullptr;
  size_t map_size_ = 0;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// XXH3-128 over parts, printed as `xxhsum -H2` does.
class ContentHasher {
 public:
  ContentHasher();
  void Add(Bytes bytes);
  std::string Hex() const;

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

std::string ContentHash(Bytes bytes);

// The file's bytes in guarded memory; null when it cannot be read.
std::unique_ptr<GuardedBytes> ReadFile(const std::string& path);

// Random numbers that depend on the vector only.
std::mt19937_64 RandomFor(std::string_view path);
// Uniform in [low, high].
int64_t Between(std::mt19937_64& random, int64_t low, int64_t high);

}  // namespace cairn::vectors

#endif  // CAIRN_TESTS_VECTORS_SUPPORT_H_
