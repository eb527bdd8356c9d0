#include "tools/cairn/flags/metadata.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/io/io.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

absl::StatusOr<std::vector<std::byte>> ReadValue(std::string_view value) {
  if (!value.starts_with('@')) {
    const Bytes bytes = std::as_bytes(std::span(value));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  ASSIGN_OR_RETURN(Input input, Input::Open(std::string(value.substr(1))));
  return input.ReadAll(kMaxChunkBytes);
}

}  // namespace

absl::StatusOr<std::vector<Metalayer>> ReadMetadata(const std::vector<std::string>& arguments) {
  std::vector<Metalayer> layers;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrFormat("metadata '%s': expected NAME=TEXT or NAME=@FILE", argument));
    }
    const std::string name = argument.substr(0, equals);
    if (std::any_of(layers.begin(), layers.end(),
                    [&](const Metalayer& layer) { return layer.name == name; })) {
      return absl::InvalidArgumentError(absl::StrFormat("metadata '%s': given twice", name));
    }
    ASSIGN_OR_RETURN(std::vector<std::byte> value,
                     ReadValue(std::string_view(argument).substr(equals + 1)));
    layers.push_back({.name = name, .content = std::move(value)});
  }
  return layers;
}

std::string ToHex(Bytes content) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(content.data()), content.size()});
}

}  // namespace cairn::tool
