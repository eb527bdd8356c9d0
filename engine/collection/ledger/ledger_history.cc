#include "engine/collection/ledger/ledger_history.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/base/status.h"
#include "engine/collection/ledger/member_name.h"

namespace cairn::collection {

namespace {

CommitInfo InfoOf(const PastCommit& commit, uint64_t number) {
  CommitInfo info = {.number = number};
  const auto list = [&](const std::string& member, std::vector<std::string>& names) {
    if (!HoldsAttributes(member)) return names.push_back(member);
    std::string group = member.substr(0, std::max<size_t>(member.rfind('/'), 1));
    const bool is_listed = std::ranges::find(info.attributes, group) != info.attributes.end();
    if (!is_listed) info.attributes.push_back(std::move(group));
  };
  for (const PastEdit& edit : commit.edits) {
    if (edit.kind == PastEdit::Kind::kAdded) list(edit.name, info.added);
    if (edit.kind == PastEdit::Kind::kRemoved) list(edit.name, info.removed);
    if (edit.kind == PastEdit::Kind::kChanged) list(edit.name, info.changed);
  }
  for (auto* const names : {&info.added, &info.removed, &info.changed, &info.attributes}) {
    std::ranges::sort(*names);
  }
  return info;
}

// Makes the table that of the commit that is kept before.
absl::Status TakeBack(LedgerTable& table) {
  const std::shared_ptr<const PastCommit> past = std::move(table.past.back());
  table.past.pop_back();
  for (auto edit = past->edits.rbegin(); edit != past->edits.rend(); ++edit) {
    const auto member = table.members.find(edit->name);
    const bool is_there = member != table.members.end();
    if (is_there != (edit->kind != PastEdit::Kind::kRemoved)) {
      return DataLoss("ledger: commit %d has changed %s, which is %s", table.number, edit->name,
                      is_there ? "there" : "not there");
    }
    if (!is_there) {
      table.members.emplace(edit->name, edit->before);
    } else if (edit->kind == PastEdit::Kind::kAdded) {
      table.members.erase(member);
    } else if (edit->has_entry()) {
      member->second = edit->before;
    } else {
      member->second.position = edit->before.position;
    }
  }
  table.number = past->before;
  return absl::OkStatus();
}

// Calls `visit` for each commit that can be taken back, the newest first, with its number.
template <typename Visit>
void ForEachPast(const LedgerTable& table, Visit visit) {
  uint64_t number = table.number;
  for (auto commit = table.past.rbegin(); commit != table.past.rend(); ++commit) {
    visit(**commit, number);
    number = (*commit)->before;
  }
}

bool ChangesContent(const LedgerCommit& commit) {
  const auto has_content = [](const MemberPart& part) {
    return part.synced || !part.patches.empty();
  };
  const auto is_copy = [](const AddedMember& added) { return added.replaces; };
  const auto copies = static_cast<size_t>(std::ranges::count_if(commit.added, is_copy));
  return std::ranges::any_of(commit.parts, has_content) || commit.added.size() > copies ||
         commit.removed.size() > copies;
}

// Returns since when the commits after the ledger's checkpoint list generations of the member. A
// commit that changes no content is taken for the next one that does: whoever opens it by its
// number reads the state before it. So is the checkpoint, which may be such a commit.
std::vector<ListedGeneration> ListedSinceCheckpoint(std::string_view member, const Ledger& ledger) {
  std::vector<ListedGeneration> listed;
  size_t known = 0;  // entries before this one have their numbers
  const auto list = [&](uint64_t generation) { listed.push_back({.generation = generation}); };
  const auto number_from = [&](uint64_t number) {
    for (; known < listed.size(); ++known) listed[known].number = number;
  };
  for (const auto& commit : ledger.commits) {
    // Another file had the name before.
    if (std::ranges::find(commit->removed, member) != commit->removed.end()) {
      listed.clear();
      known = 0;
    }
    for (const AddedMember& added : commit->added) {
      if (added.name == member) list(added.entry.position.generation);
    }
    for (const MemberPart& part : commit->parts) {
      if (part.name == member) list(part.position.generation);
    }
    if (ChangesContent(*commit)) number_from(commit->number);
  }
  number_from(ledger.table.number + 1);
  if (!listed.empty()) return listed;
  const uint64_t generation = ledger.table.members.find(member)->second.position.generation;
  return {{.number = ledger.table.number - ledger.commits.size() + 1, .generation = generation}};
}

}  // namespace

std::vector<CommitInfo> ListCommits(const LedgerTable& table) {
  std::vector<CommitInfo> list;
  ForEachPast(table, [&](const PastCommit& commit, uint64_t number) {
    list.push_back(InfoOf(commit, number));
  });
  list.push_back({.number = table.oldest_kept()});
  std::ranges::reverse(list);
  return list;
}

// Members have all bytes of the commits that the ledger's checkpoint has.
absl::StatusOr<std::shared_ptr<const Ledger>> LedgerAt(const Ledger& newest, uint64_t number) {
  auto ledger = std::make_shared<Ledger>();
  ledger->table = newest.table;
  while (ledger->table.number > number) CAIRN_RETURN_IF_ERROR(TakeBack(ledger->table));
  for (const auto& commit : newest.commits) {
    if (commit->number <= ledger->table.number) ledger->commits.push_back(commit);
  }
  return ledger;
}

std::vector<ListedGeneration> GenerationsOf(std::string_view member, const Ledger& ledger) {
  const LedgerTable& table = ledger.table;
  std::vector<ListedGeneration> listed;
  uint64_t generation = table.members.find(member)->second.position.generation;
  bool is_there = true;
  ForEachPast(table, [&](const PastCommit& commit, uint64_t number) {
    for (auto edit = commit.edits.rbegin(); edit != commit.edits.rend() && is_there; ++edit) {
      if (edit->name != member) continue;
      listed.push_back({.number = number, .generation = generation});
      generation = edit->before.position.generation;
      // An older commit has another file.
      is_there = edit->kind != PastEdit::Kind::kAdded && edit->kind != PastEdit::Kind::kReplaced;
    }
  });
  if (is_there) listed.push_back({.number = table.oldest_kept(), .generation = generation});
  std::ranges::reverse(listed);
  std::vector<ListedGeneration> since = ListedSinceCheckpoint(member, ledger);
  return since.front().number < listed.front().number ? since : listed;
}

std::vector<RemovedMember> RemovedMembers(const LedgerTable& table) {
  std::vector<RemovedMember> removed;
  ForEachPast(table, [&](const PastCommit& commit, uint64_t number) {
    for (const PastEdit& edit : commit.edits) {
      if (!edit.has_entry()) continue;
      removed.push_back({.name = edit.name, .id = edit.before.id, .number = number});
    }
  });
  return removed;
}

}  // namespace cairn::collection
