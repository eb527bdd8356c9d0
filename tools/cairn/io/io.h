// Raw bytes in and out. Everything is written, or the answer is an error.
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

// Gives each of standard input, output and error that is closed a place whose use fails, so that no
// file that the command opens gets it. False when that cannot be.
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

// A file, or standard input when the path is "-", read from front to back.
class Input {
 public:
  static absl::StatusOr<Input> Open(const std::string& path);
  Input(Input&& other) noexcept;
  Input& operator=(Input&&) = delete;
  ~Input();

  // From now on reading gives kAborted once one of these signals has come. They must stay in place.
  void EndAt(const HeldSignals& signals) { signals_ = &signals; }

  // Fills dst unless the input ends before; returns how much it got.
  absl::StatusOr<size_t> Read(MutableBytes dst);
  // What has arrived so far: waits for the first byte only. 0 at the end.
  absl::StatusOr<size_t> ReadSome(MutableBytes dst);
  // Everything that is left; kResourceExhausted when that is more than `limit` bytes.
  absl::StatusOr<std::vector<std::byte>> ReadAll(size_t limit);

  // For messages.
  const std::string& name() const { return name_; }
  // Bytes that are left of a regular file.
  std::optional<int64_t> size() const;
  bool IsSameFileAs(const std::string& path) const;

 private:
  Input(int descriptor, std::string name);

  int descriptor_;
  std::string name_;
  const HeldSignals* signals_ = nullptr;
};

// kCancelled when the reader has closed standard output.
absl::Status WriteStdout(Bytes bytes);
absl::Status WriteStdout(std::string_view text);
// A whole file, in place of what is there.
absl::Status WriteFile(const std::string& path, std::string_view text);
// Lines for people, whatever the paths and names in them are: with a blank for each control
// character.
absl::Status WriteLines(const std::vector<std::string>& lines);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_IO_IO_H_
