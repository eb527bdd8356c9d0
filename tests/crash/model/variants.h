// The protocol under several conditions, and without each of its rules.
#ifndef CAIRN_TESTS_CRASH_MODEL_VARIANTS_H_
#define CAIRN_TESTS_CRASH_MODEL_VARIANTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/model/life.h"
#include "tests/crash/model/rules.h"

namespace cairn::model {

struct Variant {
  std::string name;
  Conditions conditions;
  Rules rules;
  uint64_t runs = 1000;
  std::optional<SparseRules> sparse = {};  // of a sparse frame
  bool must_fail = false;                  // a rule is missing: violations must be found
  Effort effort;
};

std::vector<Variant> Variants();

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_VARIANTS_H_
