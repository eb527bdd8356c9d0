// A disk that has no room for the files of one directory, for this process.
#ifndef CAIRN_TESTS_SQLITE_DIFFERENTIAL_FULL_DISK_H_
#define CAIRN_TESTS_SQLITE_DIFFERENTIAL_FULL_DISK_H_

#include <cstdint>
#include <string>

namespace cairn::test {

// Lets files in `directory` take at most `bytes` more, and then calls give ENOSPC. Bytes that are
// written already can be written again. The program must export pwrite64, fallocate64 and
// ftruncate64: see meson.build.
void FillDisk(const std::string& directory, int64_t bytes);
void FreeDisk();
// Returns true if a call has failed since the last FillDisk or the last question.
bool TakeDiskFailure();

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DIFFERENTIAL_FULL_DISK_H_
