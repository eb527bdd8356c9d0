#include "tests/vectors/support.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace cairn::vectors {

GuardedBytes::GuardedBytes(size_t size) : size_(size) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t body = (size + page - 1) / page * page;
  map_size_ = body + 2 * page;
  void* map =
      mmap(nullptr, map_size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) std::abort();
  map_ = static_cast<std::byte*>(map);
  if (body > 0 && mprotect(map_ + page, body, PROT_READ | PROT_WRITE) != 0) std::abort();
  data_ = map_ + page + body - size;
}

GuardedBytes::GuardedBytes(Bytes content) : GuardedBytes(content.size()) {
  std::copy(content.begin(), content.end(), data_);
}

GuardedBytes::~GuardedBytes() { munmap(map_, map_size_); }

ContentHasher::ContentHasher() : state_(XXH3_createState(), XXH3_freeState) {
  XXH3_128bits_reset(state_.get());
}

void ContentHasher::Add(Bytes bytes) {
  XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
}

std::string ContentHasher::Hex() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : canonical.digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string ContentHash(Bytes bytes) {
  ContentHasher hasher;
  hasher.Add(bytes);
  return hasher.Hex();
}

std::unique_ptr<GuardedBytes> ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return nullptr;
  const std::vector<char> content{std::istreambuf_iterator<char>(stream),
                                  std::istreambuf_iterator<char>()};
  return std::make_unique<GuardedBytes>(std::as_bytes(std::span(content)));
}

std::mt19937_64 RandomFor(std::string_view path) {
  return std::mt19937_64(XXH3_64bits(path.data(), path.size()));
}

int64_t Between(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

}  // namespace cairn::vectors
