// A directory for one test.
#ifndef CAIRN_TESTS_SUPPORT_TEMP_DIR_H_
#define CAIRN_TESTS_SUPPORT_TEMP_DIR_H_

#include <filesystem>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <system_error>

namespace cairn::test {

// Lies in TMPDIR or /tmp. The destructor removes it with everything in it.
class TempDir {
 public:
  TempDir() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "cairn-XXXXXX").string();
    if (error || ::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  // Returns where a file of that name would be.
  std::string Path(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_TEMP_DIR_H_
