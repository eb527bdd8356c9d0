#include "tools/cairn/io/replaceable.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/members.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

absl::StatusOr<bool> IsFrameFile(const std::string& path) {
  // Every frame since 2018 has this after its first byte, with the zero at the end.
  constexpr std::string_view kMagic("\250b2frame\0", 9);
  std::array<char, 1 + kMagic.size()> head = {};
  ASSIGN_OR_RETURN(Input input, Input::Open(path));
  RETURN_IF_ERROR(input.Read(std::as_writable_bytes(std::span(head))).status());
  // The super-chunks of 2015 have no magic, so they must be opened.
  return std::string_view(head.data() + 1, kMagic.size()) == kMagic ||
         Frame::Open(path, {.file_system = FilesAt(path)}).ok();
}

absl::StatusOr<bool> IsFrame(const std::filesystem::path& path,
                             const std::filesystem::file_status& there) {
  std::error_code error;
  if (std::filesystem::is_directory(there)) {
    return std::filesystem::exists(path / "chunks.b2frame", error);
  }
  if (!std::filesystem::is_regular_file(there)) return false;
  return IsFrameFile(path);
}

}  // namespace

absl::Status CheckReplaceable(const std::string& path) {
  RETURN_IF_ERROR(CheckIsNoMember(path));
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path, error);
  if (!std::filesystem::exists(there)) return absl::OkStatus();
  const absl::StatusOr<bool> frame = IsFrame(path, there);
  if (!frame.ok() || *frame) return frame.status();
  return absl::AlreadyExistsError(absl::StrCat(
      path,
      ": exists and is not a frame, so it is not replaced, not even with --force; remove it, or "
      "choose another name"));
}

}  // namespace cairn::tool
