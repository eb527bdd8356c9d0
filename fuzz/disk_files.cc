#include "fuzz/disk_files.h"

#include "fuzz/check.h"

namespace cairn::fuzz {

void WriteFile(test::SimulatedDisk& disk, const std::string& path, Bytes content) {
  absl::StatusOr<std::unique_ptr<File>> file = disk.root()->Open(path, FileMode::kCreateNew);
  CheckOk(file.status(), "a file is made");
  CheckOk((*file)->WriteAt(0, content), "a file is written");
}

std::vector<std::byte> ReadFile(test::SimulatedDisk& disk, const std::string& path) {
  absl::StatusOr<std::unique_ptr<File>> file = disk.root()->Open(path, FileMode::kRead);
  CheckOk(file.status(), "a file is opened");
  std::vector<std::byte> content(static_cast<size_t>((*file)->Size().value()));
  CheckOk((*file)->ReadAt(0, content), "a file is read");
  return content;
}

}  // namespace cairn::fuzz
