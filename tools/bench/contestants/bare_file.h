// Measures the cost of a durable write without any format.
#ifndef CAIRN_TOOLS_BENCH_CONTESTANTS_BARE_FILE_H_
#define CAIRN_TOOLS_BENCH_CONTESTANTS_BARE_FILE_H_

#include <cstdint>
#include <fcntl.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::bench {

// A file whose space was written before. Pieces are written to it with a sync each.
class BareFile {
 public:
  static absl::StatusOr<std::unique_ptr<BareFile>> Make(const std::string& path, int64_t size) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return absl::InternalError("cannot make " + path);
    std::unique_ptr<BareFile> file(new BareFile(fd, path));
    const std::vector<std::byte> zeros(64 << 10);
    for (int64_t at = 0; at < size; at += std::ssize(zeros)) {
      if (::pwrite(fd, zeros.data(), zeros.size(), at) != std::ssize(zeros)) {
        return absl::InternalError("cannot write " + path);
      }
    }
    if (::fsync(fd) != 0) return absl::InternalError("cannot sync " + path);
    return file;
  }
  ~BareFile() {
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  BareFile(const BareFile&) = delete;
  BareFile& operator=(const BareFile&) = delete;

  absl::Status Append(Bytes bytes) {
    if (::pwrite(fd_, bytes.data(), bytes.size(), end_) != std::ssize(bytes) ||
        ::fdatasync(fd_) != 0) {
      return absl::InternalError("cannot write " + path_);
    }
    end_ += std::ssize(bytes);
    return absl::OkStatus();
  }

 private:
  BareFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  const int fd_;
  const std::string path_;
  int64_t end_ = 0;
};

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_CONTESTANTS_BARE_FILE_H_
