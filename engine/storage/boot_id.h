// Which run of the machine this is.
#ifndef CAIRN_ENGINE_STORAGE_BOOT_ID_H_
#define CAIRN_ENGINE_STORAGE_BOOT_ID_H_

#include <cstdint>

namespace cairn::storage {

// The same in all processes until the machine starts anew; 0 when the kernel does not report it.
uint64_t BootId();

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_BOOT_ID_H_
