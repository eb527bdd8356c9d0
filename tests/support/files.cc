#include "tests/support/files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"

namespace cairn::test {

Buffer FileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return ToVector(AsBytes(out.view()));
}

void PutFileBytes(const std::string& path, Bytes bytes) {
  // A file that is cut to nothing and written again would be flushed when it is closed.
  std::ofstream(path, std::ios::binary | std::ios::app).close();
  std::fstream out(path, std::ios::binary | std::ios::in | std::ios::out);
  const std::string_view text = AsText(bytes);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  EXPECT_TRUE(out.good()) << path;
  std::filesystem::resize_file(path, bytes.size());
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

int64_t SizeOnDisk(const std::string& path) {
  if (!std::filesystem::is_directory(path)) {
    return static_cast<int64_t>(std::filesystem::file_size(path));
  }
  int64_t size = 0;
  for (const auto& file : std::filesystem::directory_iterator(path)) {
    size += static_cast<int64_t>(file.file_size());
  }
  return size;
}

}  // namespace cairn::test
