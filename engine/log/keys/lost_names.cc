#include "engine/log/keys/lost_names.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

#include "engine/log/records/lost_records.h"

namespace cairn::log {

namespace {

bool NamesKeys(absl::string_view entry) {
  constexpr absl::string_view kKeyTables = "cairn.log.keys";
  return entry == "*" || absl::StartsWith(entry, kKeyTables);
}

// Returns the names in the list of lost vlmetalayers.
std::vector<std::string> LostNames(const Snapshot& snapshot) {
  if (!snapshot.HasVlmetalayer(kLostMetalayersLayer)) return {};
  const absl::StatusOr<std::vector<std::byte>> content =
      snapshot.GetVlmetalayer(kLostMetalayersLayer);
  if (!content.ok()) return {"*"};
  const std::optional<std::string> list = TextOf(*content);
  if (!list.has_value()) return {};
  return absl::StrSplit(*list, ", ");
}

}  // namespace

bool SaysThatKeysAreLost(const Snapshot& snapshot) {
  return std::ranges::any_of(LostNames(snapshot), NamesKeys);
}

absl::Status StageHasKeys(const Snapshot& snapshot, Writer& writer) {
  std::vector<std::string> names = LostNames(snapshot);
  if (std::erase_if(names, NamesKeys) == 0) return absl::OkStatus();
  if (names.empty()) return writer.DeleteVlmetalayer(kLostMetalayersLayer);
  return writer.SetVlmetalayer(kLostMetalayersLayer, EncodeList(absl::StrJoin(names, ", ")));
}

}  // namespace cairn::log
