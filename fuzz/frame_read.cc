// The input is a file with a frame in it, of any age: at the start, or where the magic stands.

#include <string_view>

#include "engine/base/bytes.h"
#include "fuzz/mutator.h"
#include "fuzz/read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kMagic("b2frame\0", 8);
  constexpr size_t kMagicAt = 2;
  const cairn::Bytes file = cairn::fuzz::AsBytes(data, size);
  const size_t magic = cairn::AsText(file).find(kMagic);
  const bool moved = magic != std::string_view::npos && magic > kMagicAt;
  cairn::fuzz::ReadFrame(file, moved ? static_cast<int64_t>(magic - kMagicAt) : 0);
  return 0;
}
