#!/usr/bin/env bash
# The full matrix: what tools/test.sh --sanitize does, and what takes too long for every change. It wants two
# or three hours. The last line says "N passed, N failed"; exit status 1 when any failed.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install-deps.sh chromium clang clang-tidy libclang-rt-dev llvm valgrind libc6-dev-i386 lib32stdc++-12-dev
tools/s390x-root.sh
source tools/test-runs.sh

# The suites of the floors whose code is pure, but for tests that try everything.
quick_suites() {
  sed -nE 's/^TEST(_F|_P)?\((\w+),.*/*\2.*/p' tests/{base,codec,filter,chunk,format}/*.cc |
    sort -u | paste -sd:
  echo ":-*.*Every*:*.*Random*:*.*Damaged*:*Noise*:*Dictionary*OverFilters*"
}

# An implicit conversion that loses bits where size_t has 32.
check_narrowing() {  # build folder, for what is configured there
  find engine -name '*.cc' -print0 |
    xargs -0 -P "$(nproc)" -n 1 clang++ -m32 -idirafter "/usr/include/$(gcc -print-multiarch)" \
      -std=c++20 -Iinclude -I. -I"$1" -D_FILE_OFFSET_BITS=64 -DHWY_COMPILE_ONLY_STATIC \
      -fsyntax-only -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror
}

# What it parses has to include what it uses.
tidy() {  # build folder, for the commands only
  meson setup "$1" --reconfigure -Db_pch=false >/dev/null || meson setup "$1" -Db_pch=false
  run-clang-tidy -quiet -p "$1" '/(engine|tools)/' 2>/dev/null
}

use_compiler gcc g++
use_peer
build_and_test_release
build_and_test_sanitized

# A moment of the soak is among the tests; a minute shows whether something grows.
count_check soak build-test-release/tests/concurrency/soak 60

add_script "all of SQLite's test-suite" tools/test-sqlite.sh --full build-test-release

# What pip installs.
count_check wheel env CAIRN_TEST_WHEEL=1 meson test -C build-test-release --no-rebuild \
  --print-errorlogs --timeout-multiplier 3 python_wheel

# The subproject and the tarball are built completely. `meson dist` has no --timeout-multiplier, so a
# quarter of the crashes has to do.
count_check subproject env CAIRN_TEST_SUBPROJECT=1 meson test -C build-test-release --no-rebuild \
  --print-errorlogs --timeout-multiplier 3 packaging
count_check dist env CAIRN_SEARCH_PERCENT=25 meson dist -C build-test-release --allow-dirty --formats gztar

# The kernels are chosen for the processor that valgrind shows.
run_tests build-test-release unit --wrapper "valgrind -q --error-exitcode=9" --timeout-multiplier 20 \
  "--test-args=--gtest_filter=$(quick_suites | tr -d "\n")"

# Each file by itself: it has to include what it uses.
build_and_test build-test-debug --buildtype=debug -Dwerror=true -Db_pch=false

# kill, soak and crash fork or are single threads.
build build-test-threads --buildtype=debugoptimized -Doptimization=1 -Dwerror=true \
  -Db_sanitize=thread -Dcpp_args=-g1 -- concurrency_tests object_tests sqlite_vfs_tests unit_tests &&
  TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp" run_tests build-test-threads concurrency object \
    sqlite_threads unit

# A big-endian host, emulated.
build build-test-s390x --cross-file build-s390x-root/cross.ini --buildtype=release -Dwerror=true \
  -- unit_tests vector_tests &&
  run_tests build-test-s390x unit vectors --timeout-multiplier 20

use_compiler clang clang++
build_and_test build-test-clang --buildtype=release -Dwerror=true
count_check clang-tidy tidy build-test-tidy
count_check narrowing check_narrowing build-test-clang

count_check coverage tools/coverage.sh

tell_sums
