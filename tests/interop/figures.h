// Counts that belong into the notes of a run.
#ifndef CAIRN_TESTS_INTEROP_FIGURES_H_
#define CAIRN_TESTS_INTEROP_FIGURES_H_

#include <cstdint>
#include <iostream>

#include <gtest/gtest.h>

namespace cairn::interop {

inline void Report(const char* what, int64_t count) {
  std::cout << "[ figures  ] " << what << ": " << count << '\n';
  testing::Test::RecordProperty(what, std::to_string(count));
}

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_FIGURES_H_
