// Tells how many files the process may still open.
#ifndef CAIRN_ENGINE_STORAGE_DESCRIPTOR_ROOM_H_
#define CAIRN_ENGINE_STORAGE_DESCRIPTOR_ROOM_H_

#include <cstdint>

namespace cairn::storage {

// The limit of open files (RLIMIT_NOFILE, or ulimit -n of a shell), which Cairn never changes.
struct DescriptorRoom {
  int64_t limit = 0;  // descriptors that the process may have
  int64_t left = 0;   // how many of these are free, or `most` if more are
};

// Opens up to `most` descriptors, which it closes again, because the kernel does not tell how many
// are free. Another thread may need one meanwhile.
DescriptorRoom FindDescriptorRoom(int64_t most);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_DESCRIPTOR_ROOM_H_
