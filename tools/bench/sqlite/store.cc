#include "tools/bench/sqlite/store.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tools/status.h"

namespace cairn::bench::sqlite {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code gone;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, gone)) {
    files.push_back(entry.path());
  }
  return files;
}

// Returns the pages of the file in the page cache, and all its pages.
std::pair<int64_t, int64_t> ResidentPages(int fd, int64_t size) {
  if (size == 0) return {0, 0};
  void* map = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return {0, 0};
  std::vector<unsigned char> pages((size + 4095) / 4096);
  mincore(map, size, pages.data());
  munmap(map, size);
  return {std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; }),
          pages.size()};
}

}  // namespace

absl::StatusOr<Store> Store::Create(const std::string& directory, const Contender& contender,
                                    int page_size) {
  std::string folder = directory + "/cairn-sqlite-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, "cannot create " + folder);
  }
  return Store(std::move(folder), contender, page_size);
}

Store::Store(Store&& other) noexcept
    : folder_(std::exchange(other.folder_, "")),
      contender_(std::move(other.contender_)),
      page_size_(other.page_size_) {}

Store::~Store() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

absl::StatusOr<Connection> Store::Open(bool durable) const {
  ASSIGN_OR_RETURN(Connection connection,
                   Connection::Open(absl::StrCat("file:", database(), "?", contender_.parameters)));
  RETURN_IF_ERROR(connection.Execute(absl::StrCat("PRAGMA page_size=", page_size_)));
  if (!contender_.journal.empty()) {
    RETURN_IF_ERROR(connection.Execute("PRAGMA journal_mode=" + contender_.journal));
  }
  RETURN_IF_ERROR(
      connection.Execute(durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF"));
  return connection;
}

int64_t Store::AllocatedBytes() const {
  int64_t bytes = 0;
  for (const std::string& file : FilesIn(folder_)) {
    struct stat about;
    if (stat(file.c_str(), &about) == 0) bytes += about.st_blocks * 512;
  }
  return bytes;
}

absl::Status Store::DropCache() const {
  for (const std::string& file : FilesIn(folder_)) {
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return absl::ErrnoToStatus(errno, file);
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    const auto [resident, pages] = ResidentPages(fd, lseek(fd, 0, SEEK_END));
    close(fd);
    if (resident * 100 > pages) {
      return absl::FailedPreconditionError(absl::StrCat(
          file, ": ", resident, " of ", pages, " pages stay in the page cache: is it in use?"));
    }
  }
  return absl::OkStatus();
}

Watch::Watch(const Store& store)
    : store_(store), thread_([this] {
        while (!stopped_) {
          most_ = std::max<int64_t>(most_, store_.AllocatedBytes());
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
      }) {}

int64_t Watch::Stop() {
  stopped_ = true;
  if (thread_.joinable()) thread_.join();
  return std::max<int64_t>(most_, store_.AllocatedBytes());
}

}  // namespace cairn::bench::sqlite
