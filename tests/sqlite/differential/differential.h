// Runs one script on both sides and compares them after each step.
#ifndef CAIRN_TESTS_SQLITE_DIFFERENTIAL_DIFFERENTIAL_H_
#define CAIRN_TESTS_SQLITE_DIFFERENTIAL_DIFFERENTIAL_H_

#include <set>
#include <string>

#include "absl/status/status.h"

#include "tests/sqlite/differential/script_maker.h"
#include "tests/sqlite/differential/side.h"
#include "tests/sqlite/differential/step.h"

namespace cairn::test {

// The sides agree in result codes, rows, changes, rowids, the states of transactions, and in every
// page of their databases. These differences are right:
//   a commit that changed no byte   stock SQLite refuses a transaction with an older snapshot
//                                   (SQLITE_BUSY_SNAPSHOT), a frame need not
//   a table that is a frame         refuses a value with SQLITE_MISMATCH, not SQLITE_CONSTRAINT;
//                                   numbers its rows from 0; its rows are not a snapshot
//   a backup while its source changes   stock SQLite may begin it again, and so need more steps
//   a full disk                     stock SQLite's is not full: a statement that fails for want of
//                                   space must leave nothing behind
class Differential {
 public:
  // Databases are made below `directory`.
  Differential(Manner manner, const Layout& layout, const std::string& directory);

  // kDataLoss names the first step after which the sides differ.
  absl::Status Run(const Script& script);

 private:
  absl::Status DoStep(const Step& step);
  absl::Status DoOnFullDisk(const Step& step);
  absl::Status Compare(const Step& step, const Outcome& stock, const Outcome& frame) const;
  absl::Status Inspect();
  bool IsRightToDiffer(const Step& step, const Outcome& stock, const Outcome& frame);

  const Manner manner_;
  Side stock_;
  Side frame_;
  std::set<int> uncounted_;  // connections that have done a statement on one side alone
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DIFFERENTIAL_DIFFERENTIAL_H_
