#include "tools/cairn/report/collection_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "tools/cairn/text/about.h"
#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/stored_size.h"
#include "tools/cairn/text/units.h"

namespace cairn::tool {

namespace {

// Returns a text such as "7 x 180 of <f4", or "7 of 4 bytes" for a frame that is not an array.
std::string DescribeItems(const MemberSummary& member) {
  if (!member.array.has_value()) {
    return absl::StrCat(member.info.nitems, " of ", FormatCount(member.info.typesize, "byte"));
  }
  const std::string& dtype = member.array->dtype;
  const std::string type = dtype.starts_with('[') ? "records"
                           : dtype.empty()        ? "unknown type"
                                                  : OneLine(dtype);
  if (member.array->shape.empty()) return absl::StrCat("one ", type);
  return absl::StrCat(absl::StrJoin(member.array->shape, " x "), " of ", type);
}

// Returns the bytes that a member takes.
int64_t SizeOf(const MemberSummary& member) { return SizeWithJournal(member.info); }

Json JsonOfMember(const MemberSummary& member) {
  if (!member.status.ok()) {
    return {{"name", member.name},
            {"error", std::string(member.status.message())},
            {"code", absl::StatusCodeToString(member.status.code())}};
  }
  const FrameInfo& info = member.info;
  const bool is_array = member.array.has_value();
  return {{"name", member.name},
          {"shape", is_array ? Json(member.array->shape) : Json()},
          {"dtype", is_array ? Json(member.array->dtype) : Json()},
          {"typesize", info.typesize},
          {"nitems", info.nitems},
          {"nbytes", info.nbytes},
          {"cbytes", info.cbytes},
          {"frame_size", info.frame_size},
          {"journal_size", info.journal_size},
          {"generation", info.generation}};
}

}  // namespace

CollectionSummary SummarizeCollection(const std::string& path, const std::string& group,
                                      const CollectionSnapshot& snapshot) {
  CollectionSummary summary = {.path = path, .number = snapshot.number(), .members = {}};
  for (const std::string& name : snapshot.Members(group + "/")) {
    MemberSummary member = {.name = name, .status = {}};
    const absl::StatusOr<Snapshot> opened = snapshot.OpenMember(name);
    member.status = About(path, opened.status());
    if (opened.ok()) {
      member.info = opened->info();
      member.array = opened->array();
    } else {
      ++summary.bad;
    }
    summary.members.push_back(std::move(member));
  }
  return summary;
}

std::string TextOfIncrement(const std::string& path, const IncrementInfo& info) {
  return absl::StrFormat("%s: increment of a collection, from commit %d to %d\n", OneLine(path),
                         info.base_generation, info.result_generation);
}

std::string JsonOfIncrement(const std::string& path, const IncrementInfo& info) {
  const Json json = {{"path", path},
                     {"kind", "increment"},
                     {"since", info.base_generation},
                     {"number", info.result_generation}};
  return Dump(json, 2) + "\n";
}

std::string TextOfCollection(const CollectionSummary& summary) {
  int64_t data = 0;
  int64_t stored = 0;
  size_t width = std::string_view("member").size();
  for (const MemberSummary& member : summary.members) {
    data += member.info.nbytes;
    stored += SizeOf(member);
    width = std::max(width, OneLine(member.name).size());
  }
  // A store of another program has no commits.
  const std::string commit = summary.number == 0 ? "" : absl::StrCat(", commit ", summary.number);
  std::string text = absl::StrFormat(
      "%s: collection of %s%s\n  data          %s\n  frames        %s, ratio %s\n",
      OneLine(summary.path), FormatCount(std::ssize(summary.members), "member"), commit,
      FormatByteSize(data), FormatByteSize(stored), FormatRatio(data, stored));
  if (summary.members.empty()) return text;
  const int padded = static_cast<int>(std::min<size_t>(width, 60));
  absl::StrAppendFormat(&text, "\n%-*s %11s %11s  %s\n", padded, "member", "data", "stored",
                        "items");
  for (const MemberSummary& member : summary.members) {
    if (!member.status.ok()) {
      absl::StrAppendFormat(&text, "%-*s  not read: %s\n", padded, OneLine(member.name),
                            OneLine(std::string(member.status.message())));
      continue;
    }
    absl::StrAppendFormat(&text, "%-*s %11s %11s  %s\n", padded, OneLine(member.name),
                          FormatByteSize(member.info.nbytes), FormatByteSize(SizeOf(member)),
                          DescribeItems(member));
  }
  return text;
}

std::string JsonOfCollection(const CollectionSummary& summary) {
  Json members = Json::array();
  for (const MemberSummary& member : summary.members) members.push_back(JsonOfMember(member));
  const Json json = {{"path", summary.path},
                     {"kind", "collection"},
                     {"number", summary.number},
                     {"members", members}};
  return Dump(json, 2) + "\n";
}

}  // namespace cairn::tool
