// Tells how many files the process may still open.
#ifndef CAIRN_ENGINE_STORAGE_DESCRIPTOR_ROOM_H_
#define CAIRN_ENGINE_STORAGE_DESCRIPTOR_ROOM_H_

#include <cstdint>

namespace cairn::storage {

// The limit of open files (RLIMIT_NOFILE, or ulimit -n of a shell), which Cairn never changes.
struct DescriptorRoom {
  int64_t limit = 0;  // descriptors that the process may have
  int64_t left = 0;   // about how many of these are free
};

// Makes three system calls. The kernel gives the lowest free number to a new descriptor. So `left`
// is too large if the process also uses numbers above the lowest free one.
DescriptorRoom FindDescriptorRoom();

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_DESCRIPTOR_ROOM_H_
