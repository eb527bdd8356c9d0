// The operating system's files, on a machine that has started again.
#ifndef CAIRN_TESTS_SUPPORT_OTHER_BOOT_H_
#define CAIRN_TESTS_SUPPORT_OTHER_BOOT_H_

#include <cstdint>

#include "tests/support/unsynced_file_system.h"

namespace cairn::test {

class OtherBoot final : public UnsyncedFileSystem {
 public:
  uint64_t BootId() const override { return PosixFileSystem()->BootId() + 1; }
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_OTHER_BOOT_H_
