// The facts that `cairn info` reports of a collection, as text or as JSON.
#ifndef CAIRN_TOOLS_CAIRN_REPORT_COLLECTION_REPORT_H_
#define CAIRN_TOOLS_CAIRN_REPORT_COLLECTION_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "cairn/collection.h"
#include "cairn/snapshot.h"

namespace cairn::tool {

struct MemberSummary {
  std::string name;
  absl::Status status;  // the reason why nothing else is known of it
  FrameInfo info = {};
  std::optional<ArrayInfo> array = {};
};

struct CollectionSummary {
  std::string path;
  uint64_t number = 0;  // of the commit
  std::vector<MemberSummary> members;
  int64_t bad = 0;  // members that do not open
};

// Opens the members of a group, or all if it is empty.
CollectionSummary SummarizeCollection(const std::string& path, const std::string& group,
                                      const CollectionSnapshot& snapshot);

std::string TextOfIncrement(const std::string& path, const IncrementInfo& info);
std::string JsonOfIncrement(const std::string& path, const IncrementInfo& info);
std::string TextOfCollection(const CollectionSummary& summary);
// Returns one object, whose keys docs/cli.md lists.
std::string JsonOfCollection(const CollectionSummary& summary);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_REPORT_COLLECTION_REPORT_H_
