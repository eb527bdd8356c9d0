// Whole files of a simulated disk.
#ifndef CAIRN_FUZZ_DISK_FILES_H_
#define CAIRN_FUZZ_DISK_FILES_H_

#include <string>
#include <vector>

#include "cairn/types.h"
#include "tests/support/simulated_disk.h"

namespace cairn::fuzz {

void WriteFile(test::SimulatedDisk& disk, const std::string& path, Bytes content);
std::vector<std::byte> ReadFile(test::SimulatedDisk& disk, const std::string& path);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_DISK_FILES_H_
