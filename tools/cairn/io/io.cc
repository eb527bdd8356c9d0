#include "tools/cairn/io/io.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/text/controls.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

absl::Status WriteTo(int descriptor, Bytes bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<size_t>(written));
    } else if (errno == EPIPE) {
      return absl::CancelledError(name + " was closed");
    } else if (errno != EINTR) {
      return absl::ErrnoToStatus(errno, name + ": cannot write");
    }
  }
  return absl::OkStatus();
}

}  // namespace

bool FillClosedStreams() {
  // A file always gets the lowest number that is free.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    if (open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) != stream) return false;
  }
  return true;
}

Input::Input(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

Input::Input(Input&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      name_(std::move(other.name_)),
      signals_(other.signals_) {}

Input::~Input() {
  if (descriptor_ > STDIN_FILENO) close(descriptor_);
}

absl::StatusOr<Input> Input::Open(const std::string& path) {
  if (path == "-") return Input(STDIN_FILENO, "standard input");
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot open"));
  return Input(descriptor, path);
}

absl::StatusOr<size_t> Input::Read(MutableBytes dst) {
  size_t filled = 0;
  while (filled < dst.size()) {
    ASSIGN_OR_RETURN(const size_t got, ReadSome(dst.subspan(filled)));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

absl::StatusOr<size_t> Input::ReadSome(MutableBytes dst) {
  if (signals_ != nullptr) {
    RETURN_IF_ERROR(signals_->WaitToRead(descriptor_));
  }
  for (;;) {
    const ssize_t got = read(descriptor_, dst.data(), dst.size());
    if (got >= 0) return static_cast<size_t>(got);
    if (errno != EINTR) return absl::ErrnoToStatus(errno, absl::StrCat(name_, ": cannot read"));
  }
}

absl::StatusOr<std::vector<std::byte>> Input::ReadAll(size_t limit) {
  constexpr size_t kStep = 1 << 20;
  std::vector<std::byte> all;
  for (;;) {
    const size_t before = all.size();
    const size_t step = std::min(std::max(kStep, before), limit + 1 - before);
    all.resize(before + step);
    ASSIGN_OR_RETURN(const size_t got, Read(MutableBytes(all).subspan(before)));
    all.resize(before + got);
    if (all.size() > limit) {
      return absl::ResourceExhaustedError(absl::StrFormat(
          "%s: longer than %d bytes, the most that is possible here", name_, limit));
    }
    if (got < step) return all;
  }
}

std::optional<int64_t> Input::size() const {
  struct stat info;
  if (fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  const off_t position = lseek(descriptor_, 0, SEEK_CUR);
  return std::max<int64_t>(info.st_size - std::max<int64_t>(position, 0), 0);
}

bool Input::IsSameFileAs(const std::string& path) const {
  struct stat mine;
  struct stat other;
  return fstat(descriptor_, &mine) == 0 && stat(path.c_str(), &other) == 0 &&
         mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
}

absl::Status WriteStdout(Bytes bytes) { return WriteTo(STDOUT_FILENO, bytes, "standard output"); }

absl::Status WriteStdout(std::string_view text) {
  return WriteStdout(std::as_bytes(std::span(text)));
}

absl::Status WriteFile(const std::string& path, std::string_view text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return absl::ErrnoToStatus(errno, path + ": cannot open");
  absl::Status status = WriteTo(descriptor, std::as_bytes(std::span(text)), path);
  if (close(descriptor) != 0 && status.ok()) {
    status = absl::ErrnoToStatus(errno, path + ": cannot write");
  }
  return status;
}

absl::Status WriteLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, OneLine(HideQueries(line)), "\n");
  return WriteStdout(text);
}

}  // namespace cairn::tool
