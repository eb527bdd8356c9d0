#include "engine/collection/ledger/member_name.h"

#include <algorithm>
#include <span>

#include "engine/base/status.h"

namespace cairn::collection {

namespace {

// Returns what is wrong with a part of a name, or nothing.
std::string_view ProblemOf(std::string_view part) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (part.empty()) return "has an empty part";
  if (part.front() == '.') return "has a part that begins with a dot";
  if (part.size() > kMaxNamePart) return "has a part of more than 249 bytes";
  if (std::ranges::any_of(part, is_control)) return "has a control character";
  if (part.find('\\') != std::string_view::npos) return "has a backslash";
  // Such a group would look like a member.
  for (const std::string_view suffix : {".b2nd", ".b2f", ".b2b", ".b2e"}) {
    if (part.ends_with(suffix)) return "has a part that ends like a file of Blosc2";
  }
  return "";
}

}  // namespace

absl::Status CheckMemberName(std::string_view name) {
  std::string_view problem;
  if (!name.starts_with('/')) {
    problem = "does not begin with a slash";
  } else if (name.size() > kMaxNameSize) {
    problem = "has more than 1,024 bytes";
  }
  for (std::string_view rest = name; problem.empty() && !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find('/'));
    problem = ProblemOf(part);
    rest.remove_prefix(part.size());
  }
  if (problem.empty()) return absl::OkStatus();
  return InvalidArgument("member name: %s %s; expected a name such as /group/member",
                         name.substr(0, 64), problem);
}

void WriteName(std::string_view name, ByteWriter& writer) {
  writer.Le(static_cast<uint16_t>(name.size()));
  writer.Append(std::as_bytes(std::span(name)));
}

std::string ReadName(ByteReader& reader) {
  const auto size = reader.Le<uint16_t>("name");
  const Bytes bytes = reader.Take(size, "name");
  std::string name(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (reader.ok() && !CheckMemberName(name).ok()) reader.Fail("name", "is not that of a member");
  return name;
}

namespace {
constexpr std::string_view kAttributes("/__vlmeta__");
}  // namespace

std::string AttributesName(std::string_view group) {
  return std::string(group == "/" ? "" : group).append(kAttributes);
}

bool HoldsAttributes(std::string_view name) { return name.ends_with(kAttributes); }

}  // namespace cairn::collection
