// Applies a commit to the table of a ledger, and joins the commits that are kept.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/collection/ledger/ledger_codec.h"

namespace cairn::collection {

namespace {

using Kind = PastEdit::Kind;

// Makes one edit of one that changes no content and of the next one of the same member. Returns
// false if that takes both.
bool JoinEdits(const PastEdit& first, PastEdit& next) {
  if (next.kind == Kind::kAdded) return false;  // the history contradicts itself
  if (first.kind == Kind::kReplaced) {
    if (!next.has_entry() && next.changes_content()) return false;
    next.before = first.before;
    if (!next.changes_content()) next.kind = Kind::kReplaced;
  } else {
    next.before.position = first.before.position;
  }
  return true;
}

// Returns the edits of both commits, of which the first one changes no content. Files and positions
// that only the state between them had are in none.
std::vector<PastEdit> Joined(const PastCommit& first, std::vector<PastEdit> next) {
  std::map<std::string_view, PastEdit*> by_name;  // the first edit of each member
  for (PastEdit& edit : next) by_name.try_emplace(edit.name, &edit);
  std::vector<PastEdit> all;
  for (const PastEdit& edit : first.edits) {
    const auto same = by_name.find(edit.name);
    if (same == by_name.end() || !JoinEdits(edit, *same->second)) all.push_back(edit);
    by_name.erase(edit.name);
  }
  by_name.clear();
  std::ranges::move(next, std::back_inserter(all));
  return all;
}

// Makes members of the table what the commit makes of them, and notes the edits.
class Applying {
 public:
  Applying(const LedgerCommit& commit, LedgerTable& table) : commit_(commit), table_(table) {}

  absl::Status Remove() {
    std::set<std::string_view> replaced;
    for (const AddedMember& added : commit_.added) {
      if (added.replaces) replaced.insert(added.name);
    }
    for (const std::string& name : commit_.removed) {
      const auto member = table_.members.find(name);
      if (member == table_.members.end()) {
        return DataLoss("ledger: commit %d removes %s, which is not there", commit_.number, name);
      }
      const bool is_replaced = replaced.erase(name) > 0;
      Note(name, is_replaced ? Kind::kReplaced : Kind::kRemoved, member->second);
      table_.members.erase(member);
    }
    if (replaced.empty()) return absl::OkStatus();
    return DataLoss("ledger: commit %d replaces %s, which it does not remove", commit_.number,
                    *replaced.begin());
  }

  absl::Status Add() {
    for (const AddedMember& added : commit_.added) {
      if (!table_.members.emplace(added.name, added.entry).second) {
        return DataLoss("ledger: commit %d adds %s, which is there", commit_.number, added.name);
      }
      if (!added.replaces) Note(added.name, Kind::kAdded, {});
    }
    return absl::OkStatus();
  }

  absl::Status Change() {
    for (const MemberPart& part : commit_.parts) {
      const auto member = table_.members.find(part.name);
      if (member == table_.members.end()) {
        return DataLoss("ledger: commit %d changes %s, which is not there", commit_.number,
                        part.name);
      }
      const bool changes = part.synced || !part.patches.empty();
      Note(part.name, changes ? Kind::kChanged : Kind::kCheckpointed,
           {.position = member->second.position});
      member->second.position = part.position;
    }
    return absl::OkStatus();
  }

  PastCommit TakePast() { return {.before = table_.number, .edits = std::move(edits_)}; }

 private:
  void Note(const std::string& name, Kind kind, const MemberEntry& before) {
    if (table_.keep > 0) edits_.push_back({.name = name, .kind = kind, .before = before});
  }

  const LedgerCommit& commit_;
  LedgerTable& table_;
  std::vector<PastEdit> edits_;
};

}  // namespace

bool PastCommit::changes_content() const {
  return std::ranges::any_of(edits, &PastEdit::changes_content);
}

absl::Status ApplyCommit(const LedgerCommit& commit, LedgerTable& table) {
  if (commit.number == 0 || commit.number - 1 != table.number) {
    return DataLoss("ledger: commit %d follows commit %d", commit.number, table.number);
  }
  Applying applying(commit, table);
  CAIRN_RETURN_IF_ERROR(applying.Remove());
  CAIRN_RETURN_IF_ERROR(applying.Add());
  CAIRN_RETURN_IF_ERROR(applying.Change());
  PastCommit past = applying.TakePast();
  table.number = commit.number;
  if (table.keep > 0) AddPast(std::move(past), table);
  KeepPast(table.keep, table);
  return absl::OkStatus();
}

// The state between the two equals its neighbour in content, so nobody needs to come to it.
void AddPast(PastCommit newest, LedgerTable& table) {
  if (!table.past.empty() && !table.past.back()->changes_content()) {
    const PastCommit& last = *table.past.back();
    newest = {.before = last.before, .edits = Joined(last, std::move(newest.edits))};
    table.past.pop_back();
  }
  table.past.push_back(std::make_shared<const PastCommit>(std::move(newest)));
}

size_t CountPast(const LedgerTable& table) {
  const bool all_count = table.past.empty() || table.past.back()->changes_content();
  return table.past.size() - (all_count ? 0 : 1);
}

void KeepPast(uint64_t commits, LedgerTable& table) {
  table.keep = commits;
  if (commits == 0) table.past.clear();
  const size_t count = CountPast(table);
  if (count <= commits) return;
  table.past.erase(table.past.begin(),
                   table.past.begin() + static_cast<ptrdiff_t>(count - commits));
}

}  // namespace cairn::collection
