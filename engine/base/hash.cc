#include "engine/base/hash.h"

#include <xxhash.h>

#include "engine/base/endian.h"
#include "engine/base/hash_config.h"

#ifdef CAIRN_XXH3_DISPATCH
// Replaces XXH3's functions with those that choose an instruction set at run time.
#include <immintrin.h>
#include <xxh_x86dispatch.h>
#endif

namespace cairn {

namespace {

#ifdef CAIRN_XXH3_DISPATCH
// libxxhash leaves the wide registers in a state in which narrow code of other libraries, such as
// LZ4, waits at every instruction.
__attribute__((target("avx"))) void LeaveWideRegisters() { _mm256_zeroupper(); }

void TidyUp() {
  if (__builtin_cpu_supports("avx")) LeaveWideRegisters();
}
#else
void TidyUp() {}
#endif

// The library says how large its states are.
struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  void operator()(XXH32_state_t* state) const { XXH32_freeState(state); }
};

}  // namespace

uint64_t Xxh3(Bytes bytes) {
  const uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  TidyUp();
  return hash;
}

void Xxh3Stream::Free::operator()(XXH3_state_s* state) const { XXH3_freeState(state); }

Xxh3Stream::Xxh3Stream() : state_(XXH3_createState()) { XXH3_64bits_reset(state_.get()); }

void Xxh3Stream::Update(Bytes piece) {
  XXH3_64bits_update(state_.get(), piece.data(), piece.size());
  TidyUp();
}

uint64_t Xxh3Stream::Digest() const {
  const uint64_t hash = XXH3_64bits_digest(state_.get());
  TidyUp();
  return hash;
}

std::array<std::byte, 16> Fingerprint(FingerprintType type, std::span<const Bytes> parts) {
  std::array<std::byte, 16> out{};
  switch (type) {
    case FingerprintType::kNone:
      break;
    case FingerprintType::k32Bit: {
      const std::unique_ptr<XXH32_state_t, FreeState> state(XXH32_createState());
      XXH32_reset(state.get(), 0);
      for (const Bytes part : parts) XXH32_update(state.get(), part.data(), part.size());
      StoreBe(out.data() + 12, uint32_t{XXH32_digest(state.get())});
      break;
    }
    case FingerprintType::k64Bit: {
      Xxh3Stream stream;
      for (const Bytes part : parts) stream.Update(part);
      StoreBe<uint64_t>(out.data() + 8, stream.Digest());
      break;
    }
    case FingerprintType::k128Bit: {
      const std::unique_ptr<XXH3_state_t, FreeState> state(XXH3_createState());
      XXH3_128bits_reset(state.get());
      for (const Bytes part : parts) XXH3_128bits_update(state.get(), part.data(), part.size());
      const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
      StoreBe<uint64_t>(out.data(), hash.high64);
      StoreBe<uint64_t>(out.data() + 8, hash.low64);
      TidyUp();
      break;
    }
  }
  return out;
}

}  // namespace cairn
