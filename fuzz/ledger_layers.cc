// The input is a layer of a collection's ledger: after a byte that says which, a table, a commit,
// the layer of an increment, or copies of objects.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/collection/ledger/increment_layer.h"
#include "engine/collection/ledger/ledger_codec.h"
#include "engine/collection/ledger/ledger_history.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/collection/ledger/object_copy.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

// The version follows the head of five bytes.
bool IsOfSameVersion(Bytes a, Bytes b) {
  return std::ranges::equal(a.subspan(5, 4), b.subspan(5, 4));
}

void ReadTableLayer(Bytes input) {
  const absl::StatusOr<collection::LedgerTable> table = collection::ParseTable(input);
  if (!IsAnswer(table.status())) return;
  // An older version is written as the newest one.
  const std::vector<std::byte> written = collection::EncodeTable(*table);
  if (IsOfSameVersion(written, input)) {
    CheckSame(written, input, "a table is written as it was read");
  } else {
    Check(collection::ParseTable(written).value() == *table, "a table is read as it was written");
  }
  for (const auto& [name, entry] : table->members) {
    Check(collection::CheckMemberName(name).ok(), "members have names", name);
    collection::GenerationsOf(name, {.table = *table});
  }
  // The history may contradict the table.
  const uint64_t oldest = table->oldest_kept();
  Check(collection::ListCommits(*table).size() == table->past.size() + 1, "commits are listed");
  collection::RemovedMembers(*table);
  const auto ledger = collection::LedgerAt({.table = *table}, oldest);
  if (!IsAnswer(ledger.status())) return;
  Check((*ledger)->table.number == oldest, "the history leads to its oldest commit");
}

void ReadCommitLayer(Bytes input) {
  const absl::StatusOr<collection::LedgerCommit> commit = collection::ParseLedgerCommit(input);
  if (!IsAnswer(commit.status())) return;
  const std::vector<std::byte> written = collection::EncodeCommit(*commit);
  if (IsOfSameVersion(written, input)) {
    CheckSame(written, input, "a commit is written as it was read");
  }
  Check(collection::ParseLedgerCommit(written).value() == *commit,
        "a commit is read as it was written");
  collection::LedgerTable table = {.number = commit->number - 1, .keep = 1};
  for (const std::string& name : commit->removed) table.members[name] = {};
  const collection::LedgerTable before = table;
  if (!collection::ApplyCommit(*commit, table).ok()) return;
  Check(before.members.size() == commit->removed.size(), "no member is removed twice");
  Check(table.members.size() == commit->added.size(), "what is added is there");
  const auto taken_back = collection::LedgerAt({.table = table}, before.number);
  Check((*taken_back)->table.members == before.members, "a commit can be taken back");
}

void ReadIncrementLayer(Bytes input) {
  const absl::StatusOr<collection::IncrementLayer> layer = collection::ParseIncrementLayer(input);
  if (!IsAnswer(layer.status())) return;
  CheckSame(collection::EncodeIncrementLayer(*layer), input,
            "an increment is written as it was read");
}

void ReadCopiesLayer(Bytes input) {
  const absl::StatusOr<collection::ObjectCopies> copies = collection::ParseCopies(input);
  if (!IsAnswer(copies.status())) return;
  CheckSame(collection::EncodeCopies(*copies), input, "copies are written as they were read");
}

void Read(Bytes input) {
  Input in(input);
  const int which = in.Number<uint8_t>() % 4;
  if (which == 0) ReadTableLayer(in.rest());
  if (which == 1) ReadCommitLayer(in.rest());
  if (which == 2) ReadIncrementLayer(in.rest());
  if (which == 3) ReadCopiesLayer(in.rest());
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::AsBytes(data, size));
  return 0;
}
