#include "tools/bench/data/counting_files.h"

#include <span>
#include <utility>

namespace cairn::bench {

namespace {

class CountingFile final : public ForwardingFile {
 public:
  CountingFile(std::unique_ptr<File> base, Counts* counts)
      : ForwardingFile(std::move(base)), counts_(*counts) {}

  absl::Status WriteAt(int64_t offset, Bytes src) override {
    ++counts_.writes;
    counts_.bytes_written += static_cast<int64_t>(src.size());
    if (offset == 0) ++counts_.header_writes;
    return ForwardingFile::WriteAt(offset, src);
  }
  absl::Status Sync(SyncMode mode) override {
    ++counts_.syncs;
    return ForwardingFile::Sync(mode);
  }
  // The next three make no system call.
  int64_t read_ahead() const override { return ForwardingFile::base().read_ahead(); }
  bool is_immutable() const override { return ForwardingFile::base().is_immutable(); }
  void WillRead(std::span<const FileRange> ranges) const override {
    ForwardingFile::base().WillRead(ranges);
  }

 private:
  File& base() const override {
    ++counts_.calls;
    return ForwardingFile::base();
  }

  Counts& counts_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<File>> CountingFileSystem::WrapFile(std::unique_ptr<File> file,
                                                                   const std::string&, FileMode) {
  return std::make_unique<CountingFile>(std::move(file), &counts_);
}

}  // namespace cairn::bench
