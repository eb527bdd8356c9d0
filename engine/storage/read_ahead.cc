#include "engine/storage/read_ahead.h"

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace cairn::storage {

void ReadAhead(Bytes bytes) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t lead = begin % page;
  ::madvise(reinterpret_cast<void*>(begin - lead), lead + bytes.size(), MADV_WILLNEED);
}

}  // namespace cairn::storage
