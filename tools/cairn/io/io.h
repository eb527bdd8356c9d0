// Reads and writes raw bytes. A write without an error has written everything.
#ifndef CAIRN_TOOLS_CAIRN_IO_IO_H_
#define CAIRN_TOOLS_CAIRN_IO_IO_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::tool {

// Gives each of standard input, output and error that is closed a descriptor whose use fails, so
// that no file that the command opens gets its number. Returns false if that fails.
bool FillClosedStreams();

// Memory that is only touched where it is written, so a large one costs nothing by itself.
class Buffer {
 public:
  explicit Buffer(size_t size)
      : data_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
  MutableBytes bytes() const { return {data_.get(), size_}; }
  MutableBytes first(size_t size) const { return bytes().first(size); }

 private:
  std::unique_ptr<std::byte[]> data_;
  size_t size_;
};

class HeldSignals;

// A file, or standard input if the path is "-", read from front to back.
class Input {
 public:
  static absl::StatusOr<Input> Open(const std::string& path);
  Input(Input&& other) noexcept;
  Input& operator=(Input&&) = delete;
  ~Input();

  // From now on reading gives kAborted once one of these signals has come. They must stay in place.
  void EndAt(const HeldSignals& signals) { signals_ = &signals; }

  // Fills dst unless the input ends before. Returns how much it got.
  absl::StatusOr<size_t> Read(MutableBytes dst);
  // Reads the bytes that have arrived so far. Waits only for the first byte. Returns 0 at the end.
  absl::StatusOr<size_t> ReadSome(MutableBytes dst);
  // Reads the rest. Errors: kResourceExhausted if that is more than `limit` bytes.
  absl::StatusOr<std::vector<std::byte>> ReadAll(size_t limit);

  // Returns the name for messages.
  const std::string& name() const { return name_; }
  // Returns the bytes that are left of a regular file.
  std::optional<int64_t> size() const;
  bool IsSameFileAs(const std::string& path) const;

 private:
  Input(int descriptor, std::string name);

  int descriptor_;
  std::string name_;
  const HeldSignals* signals_ = nullptr;
};

// Errors: kCancelled if the reader has closed standard output.
absl::Status WriteStdout(Bytes bytes);
absl::Status WriteStdout(std::string_view text);
// Writes a whole file, which replaces the old one.
absl::Status WriteFile(const std::string& path, std::string_view text);
// Writes lines for people. Each control character in paths and names becomes a blank.
absl::Status WriteLines(const std::vector<std::string>& lines);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_IO_H_
