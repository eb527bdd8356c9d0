// Access to files on the disk.
#ifndef CAIRN_TESTS_SUPPORT_FILES_H_
#define CAIRN_TESTS_SUPPORT_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/bytes.h"

namespace cairn::test {

// Returns the bytes of a file. The test fails if it cannot be read.
Buffer FileBytes(const std::string& path);
void PutFileBytes(const std::string& path, Bytes bytes);
// Returns the names in a directory, sorted.
std::vector<std::string> NamesIn(const std::string& directory);
// Returns the size of a file, or of all files in a directory.
int64_t SizeOnDisk(const std::string& path);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FILES_H_
