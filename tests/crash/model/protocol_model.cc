// An executable model of the commit protocol: random lives of a file under kills, power cuts,
// failing syncs and damage. The protocol must hold, and each variant without one of its rules must
// be seen to fail. docs/guarantees.md describes the protocol.
//
//   protocol_model [RUNS [SEED [VARIANT]]]
//
// RUNS is per cent of the usual number; VARIANT is a part of a variant's name. A variant that must
// fail runs until it does.
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/crash/model/life.h"
#include "tests/crash/model/sparse_life.h"
#include "tests/crash/model/variants.h"

namespace cairn::model {
namespace {

// The first violation; empty: there is none.
std::string RunLife(const Variant& variant, uint64_t seed, Tally& tally) {
  if (variant.sparse.has_value()) {
    SparseLife life(variant.conditions, *variant.sparse, variant.effort.images, seed, tally);
    return life.Run();
  }
  Life life(variant.conditions, variant.rules, variant.effort, seed, tally);
  return life.Run();
}

Tally RunVariant(const Variant& variant, uint64_t runs, uint64_t seed) {
  Tally tally;
  for (uint64_t run = 0; run < runs; ++run) {
    const std::string violation = RunLife(variant, seed * 1000003 + run * 7919 + 1, tally);
    if (violation.empty()) continue;
    tally.Violate(violation, run);
    if (variant.must_fail) break;  // it was seen
  }
  return tally;
}

// False when the variant did not show what it must.
bool Report(const Variant& variant, uint64_t runs, const Tally& tally) {
  const bool fits = variant.must_fail == !tally.violations.empty();
  std::printf("%-4s %-52s %7" PRIu64 " runs at most, %8" PRIu64 " states %8" PRIu64
              " flips (%" PRIu64 " told):",
              fits ? "ok" : "FAIL", variant.name.c_str(), runs, tally.states, tally.flips,
              tally.told);
  for (const auto& [kind, found] : tally.violations) {
    std::printf(" %s %" PRIu64 " (first in run %" PRIu64 ");", kind.c_str(), found.count,
                found.first_run);
  }
  std::puts(tally.violations.empty() ? " no violation" : "");
  return fits;
}

int Main(int argc, char** argv) {
  const char* const usual = std::getenv("CAIRN_SEARCH_PERCENT");
  const char* const asked = argc > 1 ? argv[1] : usual;
  const uint64_t percent = asked == nullptr ? 100 : std::strtoull(asked, nullptr, 10);
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::string_view wanted = argc > 3 ? argv[3] : "";
  bool fits = true;
  for (const Variant& variant : Variants()) {
    if (variant.name.find(wanted) == std::string::npos) continue;
    // A planted bug ends its runs as soon as it is seen.
    const uint64_t runs = variant.must_fail ? variant.runs : variant.runs * percent / 100;
    fits &= Report(variant, runs, RunVariant(variant, runs, seed));
  }
  return fits ? 0 : 1;
}

}  // namespace
}  // namespace cairn::model

int main(int argc, char** argv) { return cairn::model::Main(argc, argv); }
