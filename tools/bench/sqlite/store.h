// The folder in which one contender keeps a database. It is removed with the object.
#ifndef CAIRN_TOOLS_BENCH_SQLITE_STORE_H_
#define CAIRN_TOOLS_BENCH_SQLITE_STORE_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "absl/status/statusor.h"

#include "tools/bench/sqlite/connection.h"

namespace cairn::bench::sqlite {

struct Contender {
  std::string name;
  std::string parameters;  // parameters of the URI: "vfs=cairn&codec=zstd"
  std::string journal;     // PRAGMA journal_mode; empty: the VFS's own
};

class Store {
 public:
  static absl::StatusOr<Store> Create(const std::string& directory, const Contender& contender,
                                      int page_size);
  Store(Store&& other) noexcept;
  ~Store();

  // If `durable`, synchronous is FULL, else OFF.
  absl::StatusOr<Connection> Open(bool durable) const;
  // Returns the bytes on disk of the database and of the files next to it (st_blocks).
  int64_t AllocatedBytes() const;
  // Writes dirty pages and drops all from the page cache, by posix_fadvise(DONTNEED). Fails if
  // mincore finds more than one page in a hundred left. No connection may be open.
  absl::Status DropCache() const;

  const std::string& folder() const { return folder_; }
  std::string database() const { return folder_ + "/app.db"; }

 private:
  Store(std::string folder, Contender contender, int page_size)
      : folder_(std::move(folder)), contender_(std::move(contender)), page_size_(page_size) {}

  std::string folder_;
  Contender contender_;
  int page_size_;
};

// Finds the most bytes that a store takes on disk while the object lives, by a look each 5 ms.
class Watch {
 public:
  explicit Watch(const Store& store);
  ~Watch() { Stop(); }

  int64_t Stop();

 private:
  const Store& store_;
  std::atomic<bool> stopped_ = false;
  std::atomic<int64_t> most_ = 0;
  std::thread thread_;
};

}  // namespace cairn::bench::sqlite

#endif  // CAIRN_TOOLS_BENCH_SQLITE_STORE_H_
