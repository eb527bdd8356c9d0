#include "engine/storage/boot_id.h"

#include <array>
#include <fcntl.h>
#include <unistd.h>

#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/storage/errors.h"
#include "engine/storage/unique_fd.h"

namespace cairn::storage {

namespace {

uint64_t ReadBootId() {
  const UniqueFd fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return 0;
  std::array<std::byte, 64> text{};
  const ssize_t got = RetryInterrupted([&] { return ::read(fd.get(), text.data(), text.size()); });
  return got > 0 ? Xxh3(Bytes(text).first(static_cast<size_t>(got))) : 0;
}

}  // namespace

uint64_t BootId() {
  static const uint64_t boot = ReadBootId();
  return boot;
}

}  // namespace cairn::storage
