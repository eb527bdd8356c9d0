// Files that count what is done to them.
#ifndef CAIRN_TOOLS_BENCH_DATA_COUNTING_FILES_H_
#define CAIRN_TOOLS_BENCH_DATA_COUNTING_FILES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "cairn/file_system.h"

namespace cairn::bench {

struct Counts {
  int64_t calls = 0;  // calls of all kinds, each of which is a system call
  int64_t writes = 0;
  int64_t bytes_written = 0;
  int64_t header_writes = 0;  // at offset 0: one for each checkpoint
  int64_t syncs = 0;
};

// Not thread-safe. Must outlive its files.
class CountingFileSystem final : public FileSystem {
 public:
  const Counts& counts() const { return counts_; }
  void Reset() { counts_ = {}; }

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status SyncDirectoryOf(const std::string& path) override;
  std::string Resolve(const std::string& path) override { return base_->Resolve(path); }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override;

 private:
  FileSystem* const base_ = PosixFileSystem();
  Counts counts_;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_DATA_COUNTING_FILES_H_
