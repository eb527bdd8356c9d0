#include "tools/cairn/replaceable.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "tools/cairn/io.h"

namespace cairn::tool {

namespace {

// What every frame since 2018 begins with, after its first byte.
bool HasMagic(const std::string& path) {
  constexpr std::string_view kMagic(
      "\xa8"
      "b2frame\0",
      9);
  std::array<std::byte, 1 + kMagic.size()> head = {};
  absl::StatusOr<Input> input = Input::Open(path);
  if (!input.ok() || !input->Read(head).ok()) return false;
  return std::ranges::equal(MutableBytes(head).subspan(1), std::as_bytes(std::span(kMagic)));
}

bool IsFrame(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(there)) {
    return std::filesystem::exists(std::filesystem::path(path) / "chunks.b2frame", error);
  }
  // The super-chunks of 2015 have no magic; they open or are none.
  return std::filesystem::is_regular_file(there) && (HasMagic(path) || Frame::Open(path).ok());
}

}  // namespace

absl::Status CheckReplaceable(const std::string& path) {
  std::error_code error;
  const bool there = std::filesystem::exists(path, error);
  if (!there || IsFrame(path)) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(
      path,
      ": exists and is no frame, so it is not replaced, not even with --force; remove it, or "
      "choose another name"));
}

}  // namespace cairn::tool
