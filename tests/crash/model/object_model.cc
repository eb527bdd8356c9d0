// An executable model of frames in object stores: writers, readers and collectors of garbage beside
// each other, over a network that loses, delays and repeats. The protocol must hold, and each
// variant without one of its rules must be seen to fail.
//
//   object_model [RUNS [SEED [VARIANT]]]
//
// RUNS is per cent of the usual number; VARIANT is a part of a variant's name. A variant that must
// fail runs until it does.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/crash/model/object_life.h"
#include "tests/crash/model/random.h"

namespace cairn::model {
namespace {

struct ObjectVariant {
  std::string name;
  ObjectConditions conditions = {};
  ObjectRules rules = {};
  uint64_t runs = 0;  // random ones; 0: all there are
  bool must_fail = false;
  // Number of the first random run. A rare violation needs many: the search begins near one.
  uint64_t first_run = 0;
};

const ObjectConditions kUsual;
const ObjectConditions kThree = {.writers = 3, .readers = 2, .collectors = 2, .steps = 300};
const ObjectConditions kSleepy = {.sleeps = true};
const ObjectConditions kStalling = {.readers = 2, .collectors = 2, .stalls = true, .steps = 300};
const ObjectConditions kSleepyCrowd = {.collectors = 3, .sleeps = true, .steps = 300};
const ObjectConditions kReplaced = {.replacer = true};
// Requests take as long as they may for the other times to suffice.
const ObjectConditions kSlow = {.flight = 7, .delay = 3, .collectors = 2, .steps = 300};
const ObjectConditions kLate = {
    .grace = 8, .flight = 60, .delay = 10, .readers = 0, .collectors = 3, .steps = 500};
// Each writer makes an action or two, and all requests together have a fault or two.
const ObjectConditions kAllFaults = {
    .readers = 0, .collectors = 0, .commits = 1, .faults = 2, .steps = 1000000, .time = false};
const ObjectConditions kAllReads = {
    .readers = 1, .collectors = 0, .commits = 1, .faults = 1, .steps = 1000000, .time = false};
const ObjectConditions kAllOfThree = {.writers = 3,
                                      .readers = 0,
                                      .collectors = 0,
                                      .commits = 1,
                                      .faults = 0,
                                      .steps = 1000000,
                                      .time = false};
const ObjectConditions kAllActions = {
    .readers = 0, .collectors = 0, .commits = 2, .faults = 1, .steps = 1000000, .time = false};

ObjectVariant Without(bool ObjectRules::*rule, const std::string& name,
                      const ObjectConditions& conditions = kUsual, uint64_t first_run = 0) {
  ObjectVariant variant{.name = "objects, without " + name,
                        .conditions = conditions,
                        .rules = {},
                        .runs = 400000,
                        .must_fail = true,
                        .first_run = first_run};
  variant.rules.*rule = false;
  return variant;
}

std::vector<ObjectVariant> ObjectVariants() {
  using R = ObjectRules;
  return {
      {.name = "objects, all orders, two faults", .conditions = kAllFaults},
      {.name = "objects, all orders, a reader", .conditions = kAllReads},
      {.name = "objects, all orders, three writers", .conditions = kAllOfThree},
      {.name = "objects, all orders, two actions", .conditions = kAllActions},
      {.name = "objects, two writers", .conditions = kUsual, .runs = 10000},
      {.name = "objects, three writers", .conditions = kThree, .runs = 5000},
      {.name = "objects, slow requests", .conditions = kSlow, .runs = 5000},
      {.name = "objects, collectors that stall", .conditions = kStalling, .runs = 5000},
      {.name = "objects, machines that sleep", .conditions = kSleepy, .runs = 5000},
      {.name = "objects, a frame that is replaced", .conditions = kReplaced, .runs = 10000},
      Without(&R::record_if_absent, "the condition of a record"),
      Without(&R::records_differ, "the writer's id in records"),
      {.name = "objects, second line: without comparison by the client",
       .rules = {.client_compares = false},
       .runs = 5000},
      Without(&R::writer_compares, "comparison after any conflict"),
      Without(&R::fences, "a fence after a lost answer"),
      Without(&R::fences_in_time, "a limit of time for fences", kLate),
      Without(&R::checks_collisions, "a check of collisions"),
      Without(&R::catches_up, "moving an aborted commit"),
      Without(&R::validates, "a look at the index before commits"),
      Without(&R::limits_staged_age, "a limit of what is staged"),
      Without(&R::counts_sleep, "counting sleep", kSleepyCrowd),
      Without(&R::index_if_match, "the condition of an index"),
      Without(&R::inherits_journal, "inheriting the journal"),
      Without(&R::closes_pending, "closing what is pending"),
      Without(&R::ends_journal, "an end of a replaced journal", kReplaced),
      Without(&R::fresh_numbers, "fresh numbers of chunks"),
      Without(&R::old_enough, "an age of garbage", kUsual, 33000),
      Without(&R::chunk_grace, "grace of chunks"),
      Without(&R::record_grace, "grace of records", kSlow, 27000),
      Without(&R::checks_again, "a check before the removal", kSlow),
      Without(&R::list_after_state, "the time of the state in a list", kStalling, 168000),
      Without(&R::reader_looks_again, "a reader's look at the index"),
      // These break assumptions about requests.
      {.name = "objects, requests later than the grace",
       .conditions = kLate,
       .runs = 400000,
       .must_fail = true,
       .first_run = 112000},
  };
}

struct Found {
  std::string violation;
  uint64_t runs = 0;
  uint64_t states = 0;
};

Found RunAtRandom(const ObjectVariant& variant, uint64_t runs, uint64_t seed) {
  Found found;
  while (found.runs < runs && found.violation.empty()) {
    Random random(seed * 1000003 + (variant.first_run + found.runs) * 7919 + 1);
    ObjectLife life(variant.conditions, variant.rules,
                    [&](uint64_t bound) { return random.Below(bound); });
    found.violation = life.Run(nullptr);
    found.states += static_cast<uint64_t>(life.steps());
    ++found.runs;
  }
  return found;
}

uint64_t HashOf(const std::vector<int64_t>& key) {
  uint64_t hash = 0;
  for (const int64_t word : key) hash = Random(hash ^ static_cast<uint64_t>(word)).Next();
  return hash;
}

// Every order of events and every choice; states are told apart by a hash.
Found RunAll(const ObjectVariant& variant) {
  struct Choice {
    uint64_t taken = 0;
    uint64_t bound = 0;
  };
  Found found;
  std::vector<Choice> path;
  std::unordered_set<uint64_t> visited;
  do {
    size_t depth = 0;
    const size_t repeated = path.size();
    ObjectLife life(variant.conditions, variant.rules, [&](uint64_t bound) {
      if (depth == path.size()) path.push_back({.taken = 0, .bound = bound});
      return path[depth++].taken;
    });
    found.violation = life.Run([&](const ObjectLife& now) {
      return depth < repeated || visited.insert(HashOf(now.Key())).second;
    });
    ++found.runs;
    while (!path.empty() && path.back().taken + 1 == path.back().bound) path.pop_back();
    if (!path.empty()) ++path.back().taken;
  } while (!path.empty() && found.violation.empty());
  found.states = visited.size();
  return found;
}

// False when the variant did not show what it must.
bool RunVariant(const ObjectVariant& variant, uint64_t percent, uint64_t seed) {
  const uint64_t runs = variant.must_fail ? variant.runs : variant.runs * percent / 100;
  const Found found =
      variant.runs == 0 ? RunAll(variant) : RunAtRandom(variant, runs == 0 ? 1 : runs, seed);
  const bool fits = variant.must_fail == !found.violation.empty();
  std::printf("%-4s %-52s %8" PRIu64 " runs, %9" PRIu64 " states: %s\n", fits ? "ok" : "FAIL",
              variant.name.c_str(), found.runs, found.states,
              found.violation.empty() ? "no violation" : found.violation.c_str());
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
  for (const ObjectVariant& variant : ObjectVariants()) {
    if (variant.name.find(wanted) == std::string::npos) continue;
    fits &= RunVariant(variant, percent, seed);
  }
  return fits ? 0 : 1;
}

}  // namespace
}  // namespace cairn::model

int main(int argc, char** argv) { return cairn::model::Main(argc, argv); }
