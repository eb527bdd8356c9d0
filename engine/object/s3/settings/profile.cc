#include "engine/object/s3/settings/profile.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

#include "engine/base/status.h"

namespace cairn::object {

namespace {

std::string Strip(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace({text.data(), text.size()}));
}

class Parser {
 public:
  absl::Status Take(std::string_view line) {
    ++line_;
    const std::string text = Strip(line);
    if (text.empty() || text.starts_with('#') || text.starts_with(';')) return absl::OkStatus();
    if (text.starts_with('[')) return BeginSection(text);
    const size_t equals = text.find('=');
    if (section_ == nullptr || equals == std::string_view::npos)
      return Bad("expected name = value");
    const bool indented = absl::ascii_isspace(static_cast<unsigned char>(line.front()));
    const std::string name = Strip(text.substr(0, equals));
    const std::string value = Strip(text.substr(equals + 1));
    if (!indented) outer_ = name;
    (*section_)[indented ? absl::StrCat(outer_, ".", name) : name] = value;
    return absl::OkStatus();
  }
  Sections sections() && { return std::move(sections_); }

 private:
  absl::Status BeginSection(const std::string& text) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return Bad("expected ]");
    const std::string name = text.substr(1, end - 1);
    section_ = &sections_[absl::StrJoin(
        absl::StrSplit(name, absl::ByAnyChar(" \t"), absl::SkipEmpty()), " ")];
    return absl::OkStatus();
  }
  absl::Status Bad(std::string_view reason) const {
    return absl::InvalidArgumentError(absl::StrFormat("line %d: %s", line_, reason));
  }

  Sections sections_;
  Settings* section_ = nullptr;
  std::string outer_;
  int64_t line_ = 0;
};

}  // namespace

absl::StatusOr<Sections> ParseSections(const std::string& text) {
  Parser parser;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    CAIRN_RETURN_IF_ERROR(parser.Take(line));
  }
  return std::move(parser).sections();
}

absl::StatusOr<Sections> ReadSections(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return Sections();
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return absl::PermissionDeniedError(path + ": cannot be read");
  absl::StatusOr<Sections> sections = ParseSections(text);
  if (sections.ok()) return sections;
  return absl::Status(sections.status().code(),
                      absl::StrCat(path, ": ", sections.status().message()));
}

}  // namespace cairn::object
