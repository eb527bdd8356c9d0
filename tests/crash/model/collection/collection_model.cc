// An executable model of commits over several frames: random lives of a collection of up to three
// members under kills, power cuts and failing syncs, with readers beside, of older commits too,
// members that come, go, move and are replaced, and files that someone changed outside. The
// protocol must hold, and each variant without one of its rules must be seen to fail.
// docs/collections.md describes the protocol.
//
//   collection_model [PERCENT [SEED [VARIANT]]]
//
// PERCENT is per cent of the usual number of lives; VARIANT is a part of a variant's name. A
// variant that must fail runs until it does.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/crash/model/collection/life.h"
#include "tests/crash/model/collection/rules.h"

namespace cairn::model {
namespace {

constexpr uint64_t kLives = 10000;
constexpr uint64_t kMostLives = 200000;  // of a variant that must fail

struct CollectionVariant {
  std::string name;
  bool CollectionRules::*rule = nullptr;  // that is missing
  bool must_fail = true;                  // else another rule has the same effect
};

std::vector<CollectionVariant> CollectionVariants() {
  using R = CollectionRules;
  return {
      {"collections", nullptr, false},
      {"collections, without the sync of large parts", &R::syncs_direct},
      {"collections, without large parts before the ledger", &R::direct_first},
      {"collections, without the sync of the ledger", &R::syncs_ledger},
      {"collections, without the ledger before members", &R::ledger_first},
      {"collections, without copies of records", &R::copies_records},
      {"collections, without a stop after a failed sync", &R::stops_after_failure},
      {"collections, without overlays", &R::overlays},
      {"collections, without redoing", &R::redoes},
      {"collections, without redoing what seems to be there", &R::redoes_present},
      {"collections, without the limit of redoing", &R::redoes_only_newer},
      {"collections, without the last copy of a place alone", &R::redoes_last},
      {"collections, without the end of copies at a later sync", &R::syncs_void_copies},
      {"collections, without the sync before copies are dropped", &R::syncs_before_cut},
      {"collections, without the sync of names before that", &R::syncs_names_before_cut},
      {"collections, second line: without cutting the ledger", &R::cuts_tail, false},
      {"collections, without confirming the ledger", &R::confirms_ledger},
      {"collections, without confirming members", &R::confirms_members},
      {"collections, without a stop at the position", &R::stops_at_position},
      {"collections, without the listed position in members", &R::keeps_listed},
      {"collections, without asking readers", &R::asks_readers},
      {"collections, without the entry of readers", &R::enters},
      {"collections, without the lock in the entry", &R::locks_in_entry},
      {"collections, without what lies between", &R::keeps_between},
      {"collections, without names after the commit", &R::names_after_commit},
      {"collections, without placing names again", &R::names_redone},
      {"collections, without the sync of new files", &R::syncs_new_files},
      {"collections, without looking aside", &R::looks_aside},
      {"collections, without removed files for readers", &R::keeps_removed},
      {"collections, without the position of members", &R::checks_position},
      {"collections, without a reader of the oldest commit", &R::locks_kept},
      {"collections, without saying first what is kept", &R::lists_kept_first},
      {"collections, without removed files for commits that are kept", &R::keeps_removed_past},
      {"collections, without removed files for commits between", &R::keeps_removed_between},
      {"collections, without the sync of removed members", &R::syncs_removed},
      {"collections, without completing removed members", &R::redoes_removed},
      {"collections, without the commits that listed generations", &R::lists_generations},
      {"collections, shared, without confirming what others did", &R::confirms_turn},
      {"collections, shared, without completing what is held", &R::completes_held},
      {"collections, shared, without completing what is free", &R::completes_free},
      {"collections, shared, without trust in who holds a member", &R::trusts_held},
      {"collections, shared, without letting go after a failure", &R::lets_go},
      {"collections, shared, without placing names of others", &R::places_names},
      {"collections, shared, without a reader of the oldest in each", &R::keeps_each},
      {"collections, shared, without asking for names", &R::asks_for_names},
      {"collections, without telling edits by others", &R::tells_foreign},
  };
}

// Returns false if the variant did not show what it must.
bool RunVariant(const CollectionVariant& variant, uint64_t percent, uint64_t seed) {
  CollectionRules rules;
  if (variant.rule != nullptr) rules.*variant.rule = false;
  const uint64_t lives = variant.must_fail ? kMostLives : kLives * percent / 100;
  CollectionTally tally;
  std::map<std::string, uint64_t> violations;  // the first life of each
  for (uint64_t life = 0; life < lives && violations.size() < 5; ++life) {
    CollectionLife one(rules, seed * 1000003 + life * 7919 + 1, tally);
    const std::string violation = one.Run();
    if (!violation.empty()) violations.try_emplace(violation, life);
    if (!violation.empty() && variant.must_fail) break;
  }
  const bool fits = variant.must_fail == !violations.empty();
  std::printf("%-4s %-58s %7" PRIu64 " lives %9" PRIu64 " states %9" PRIu64 " reads:",
              fits ? "ok" : "FAIL", variant.name.c_str(), tally.lives, tally.states, tally.checks);
  for (const auto& [what, life] : violations) {
    std::printf(" %s (life %" PRIu64 ");", what.c_str(), life);
  }
  std::puts(violations.empty() ? " no violation" : "");
  std::fflush(stdout);
  return fits;
}

int Main(int argc, char** argv) {
  const char* const usual = std::getenv("CAIRN_SEARCH_PERCENT");
  const char* const asked = argc > 1 ? argv[1] : usual;
  const uint64_t percent = asked == nullptr ? 100 : std::strtoull(asked, nullptr, 10);
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::string_view wanted = argc > 3 ? argv[3] : "";
  bool fits = true;
  for (const CollectionVariant& variant : CollectionVariants()) {
    if (variant.name.find(wanted) == std::string::npos) continue;
    fits &= RunVariant(variant, percent, seed);
  }
  return fits ? 0 : 1;
}

}  // namespace
}  // namespace cairn::model

int main(int argc, char** argv) { return cairn::model::Main(argc, argv); }
