// Files as they are on the disk.
#ifndef CAIRN_TESTS_SUPPORT_FILES_H_
#define CAIRN_TESTS_SUPPORT_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/bytes.h"

namespace cairn::test {

// A file as it is; the test fails when it cannot be read or written.
Buffer FileBytes(const std::string& path);
void PutFileBytes(const std::string& path, Bytes bytes);
// Names in a directory, sorted.
std::vector<std::string> NamesIn(const std::string& directory);
// Bytes of a file, or of all files in a directory.
int64_t SizeOnDisk(const std::string& path);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FILES_H_
