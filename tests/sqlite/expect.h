// Expectations of a process of a test, whose failure is its status.
#ifndef CAIRN_TESTS_SQLITE_EXPECT_H_
#define CAIRN_TESTS_SQLITE_EXPECT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "tests/sqlite/database.h"

namespace cairn::test {

// `what` there was if it is not as expected.
inline absl::Status Expect(bool as_expected, const std::string& what) {
  return as_expected ? absl::OkStatus() : absl::DataLossError(what);
}

// Checks the first row that the query finds.
inline absl::Status ExpectNumber(Database& database, const std::string& query, int64_t wanted) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t number, database.Number(query));
  return Expect(number == wanted, absl::StrCat(query, ": ", number, " in place of ", wanted));
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_EXPECT_H_
