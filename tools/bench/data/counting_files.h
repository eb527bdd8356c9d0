// Files that count what is done to them.
#ifndef CAIRN_TOOLS_BENCH_DATA_COUNTING_FILES_H_
#define CAIRN_TOOLS_BENCH_DATA_COUNTING_FILES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "cairn/file_system.h"
#include "cairn/forwarding_file.h"

namespace cairn::bench {

struct Counts {
  int64_t calls = 0;  // calls of all kinds, each of which is a system call
  int64_t writes = 0;
  int64_t bytes_written = 0;
  int64_t header_writes = 0;  // at offset 0: one for each checkpoint
  int64_t syncs = 0;
};

// Not thread-safe. Must outlive its files.
class CountingFileSystem final : public ForwardingFileSystem {
 public:
  CountingFileSystem() : ForwardingFileSystem(PosixFileSystem()) {}
  const Counts& counts() const { return counts_; }
  void Reset() { counts_ = {}; }

  absl::Status SyncDirectoryOf(const std::string& path) override {
    ++counts_.syncs;
    return ForwardingFileSystem::SyncDirectoryOf(path);
  }

 private:
  FileSystem& base() const override {
    ++counts_.calls;
    return ForwardingFileSystem::base();
  }
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override;

  mutable Counts counts_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_DATA_COUNTING_FILES_H_
