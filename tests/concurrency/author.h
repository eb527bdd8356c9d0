// The one who writes while others read.
#ifndef CAIRN_TESTS_CONCURRENCY_AUTHOR_H_
#define CAIRN_TESTS_CONCURRENCY_AUTHOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "absl/status/status.h"

#include "cairn/frame.h"
#include "tests/concurrency/ledger.h"

namespace cairn::test {

// Does to a frame of the ledger what a program can do, in an order that the seed chooses.
class Author {
 public:
  struct Options {
    std::string path = {};  // empty for a frame in memory
    std::shared_ptr<FileSystem> file_system = nullptr;
    int64_t most_items = 1 << 20;
    uint64_t seed = 1;
  };
  Author(Frame* frame, Options options)
      : frame_(frame), options_(std::move(options)), random_(options_.seed) {}

  // In an empty frame.
  absl::Status Begin();
  // In a frame that another author left, in whatever way.
  absl::Status Resume();
  absl::Status Step();
  // Closes the frame and checks all of it.
  absl::Status End();

  const Ledger& committed() const { return keeper_.committed(); }
  // Bytes of disk space given back while others read.
  int64_t freed() const { return freed_; }
  // How often readers kept Reclaim from that.
  int64_t blocked() const { return blocked_; }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  absl::Status Open();
  absl::Status Append(int64_t most);
  absl::Status Edit();
  absl::Status Commit();
  absl::Status Change();
  absl::Status Abandon();
  absl::Status CloseAndCompact();
  absl::Status Reclaim();

  Frame* const frame_;
  const Options options_;
  std::mt19937_64 random_;
  std::optional<Writer> writer_;
  LedgerKeeper keeper_;
  int64_t freed_ = 0;
  int64_t blocked_ = 0;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CONCURRENCY_AUTHOR_H_
