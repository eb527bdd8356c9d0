// Counts what a crash test looked at and what it found wrong.
#ifndef CAIRN_TESTS_CRASH_TALLY_H_
#define CAIRN_TESTS_CRASH_TALLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"

namespace cairn::test {

class Tally {
 public:
  void CountState() { ++states_; }
  // `where` says how to see it again; the first of each kind is kept.
  void CountViolation(const std::string& kind, const std::string& where) {
    Kind& entry = violations_[kind];
    if (entry.count++ == 0) entry.first = where;
    ++total_;
  }

  int64_t states() const { return states_; }
  int64_t violations() const { return total_; }
  int64_t violations(const std::string& kind) const {
    const auto found = violations_.find(kind);
    return found == violations_.end() ? 0 : found->second.count;
  }
  std::string ToString() const {
    std::string text = absl::StrFormat("states: %d, violations: %d", states_, total_);
    for (const auto& [kind, entry] : violations_) {
      text += absl::StrFormat("\n  %s: %d, first at %s", kind, entry.count, entry.first);
    }
    return text;
  }

 private:
  struct Kind {
    int64_t count = 0;
    std::string first;
  };
  int64_t states_ = 0;
  int64_t total_ = 0;
  std::map<std::string, Kind> violations_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CRASH_TALLY_H_
