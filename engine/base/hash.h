// Fingerprints of bytes.
#ifndef CAIRN_ENGINE_BASE_HASH_H_
#define CAIRN_ENGINE_BASE_HASH_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "cairn/types.h"

struct XXH3_state_s;

namespace cairn {

uint64_t Xxh3(Bytes bytes);

// Computes Xxh3 of bytes that arrive in pieces.
class Xxh3Stream {
 public:
  Xxh3Stream();
  void Update(Bytes piece);
  uint64_t Digest() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const;
  };
  const std::unique_ptr<XXH3_state_s, Free> state_;
};

// Computes the 16 bytes of a trailer's fingerprint field over the parts in order: canonical big
// endian, padded on the left with zeros; all zero for kNone.
std::array<std::byte, 16> Fingerprint(FingerprintType type, std::span<const Bytes> parts);

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_HASH_H_
