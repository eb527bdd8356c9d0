// Checks the facts that must hold for a frame of the manifest. Failures are GoogleTest's.
#ifndef CAIRN_TESTS_VECTORS_FRAME_CHECKS_H_
#define CAIRN_TESTS_VECTORS_FRAME_CHECKS_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "tests/vectors/manifest.h"

namespace cairn::vectors {

// The ways to a frame's bytes.
enum class Access { kMapped, kRead, kObject, kBuffer };
// All of them, but no buffer for a directory.
std::span<const Access> AccessesOf(const Entry& entry);
std::string ToString(Access access);

// A frame and the bytes that it may stand on.
class OpenedFrame {
 public:
  OpenedFrame(const Entry& entry, Access access);
  ~OpenedFrame();
  OpenedFrame(const OpenedFrame&) = delete;
  OpenedFrame& operator=(const OpenedFrame&) = delete;

  const absl::StatusOr<Frame>& frame() const { return frame_; }

 private:
  void OpenObjects(const std::string& path, OpenOptions options);

  std::unique_ptr<class GuardedBytes> bytes_;
  std::shared_ptr<FileSystem> objects_;
  absl::StatusOr<Frame> frame_;
};

// Returns the most bytes that opening a frame of this size may allocate.
int64_t AllowedForOpening(int64_t size);

// Info, content, partial reads, metadata and verification are as the manifest says.
void CheckReadableFrame(const Entry& entry, Access access);
// For the values of `expect` that are not about equal content.
void CheckHostileFrame(const Entry& entry, Access access);
void CheckUnsupportedFrame(const Entry& entry, Access access);

// Reads all chunks and metadata and verifies. The first error, or the hash of the content.
absl::StatusOr<std::string> ReadEverything(const Entry& entry, Access access);

}  // namespace cairn::vectors

#endif  // CAIRN_TESTS_VECTORS_FRAME_CHECKS_H_
