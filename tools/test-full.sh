#!/usr/bin/env bash
# Runs the full matrix, or the parts of it that are named: tools/test-full.sh [PART...]. It is what
# tools/test.sh --sanitize does, and what takes too long for every change. Each part builds what it
# needs and takes up to 40 minutes on two cores; all of them take about four hours. The last line
# says "N passed, N failed"; exit status 1 when any failed.
set -euo pipefail
cd "$(dirname "$0")/.."

parts=(release sanitize soak sqlite pytables packages debian valgrind debug threads s390x aarch64
  clang tidy coverage)

chosen=("$@")
[[ $# -gt 0 ]] || chosen=("${parts[@]}")
for part in "${chosen[@]}"; do
  if [[ " ${parts[*]} " != *" $part "* ]]; then
    echo "test-full: there is no part '$part'; parts: ${parts[*]}" >&2
    exit 2
  fi
done

tools/install-deps.sh
source tools/test-runs.sh

# The suites of the floors whose code is pure, except for tests that try everything.
quick_suites() {
  sed -nE 's/^TEST(_F|_P)?\((\w+),.*/*\2.*/p' tests/{base,codec,filter,chunk,format}/*.cc |
    sort -u | paste -sd:
  echo ":-*.*Every*:*.*Random*:*.*Damaged*:*Noise*:*Dictionary*OverFilters*"
}

# Fails if an implicit conversion loses bits where size_t has 32.
check_narrowing() {  # build folder, for what is configured there
  find engine -name '*.cc' -print0 |
    xargs -0 -P "$(nproc)" -n 1 clang++ -m32 -idirafter "/usr/include/$(gcc -print-multiarch)" \
      -std=c++20 -Iinclude -I. -I"$1" -D_FILE_OFFSET_BITS=64 -DHWY_COMPILE_ONLY_STATIC \
      -fsyntax-only -Wall -Wextra -Wconversion -Wno-sign-conversion -Werror
}

# Without precompiled headers, as what clang-tidy parses has to include what it uses.
tidy() {  # build folder, for the commands only
  meson setup "$1" --reconfigure -Db_pch=false >/dev/null || meson setup "$1" -Db_pch=false
  run-clang-tidy -quiet -p "$1" '/(engine|tools)/' 2>/dev/null
}

# Builds these targets, or all, as CI does for release.
build_release() {
  build build-test-release "${release_options[@]}" "${peer_options[@]}" -- "$@"
}

run_release() {
  tools/install-deps.sh chromium
  build_and_test_release
  begin_sqlite_suite
  end_script
  begin_object_store
  end_script
}

# The tests against peers too.
run_sanitize() {
  tools/install-deps.sh chromium
  build_sanitized -Dblosc2_api=auto -Dblosc2_pco=auto || return 0
  run_tests build-test-sanitize
}

# A moment of the soak is among the tests; a minute shows whether something grows.
run_soak() {
  build_release tests/concurrency/soak || return 0
  count_check soak build-test-release/tests/concurrency/soak 60
}

# SQLite's own test-suite, and 2,000 of each kind of random scripts beside stock SQLite.
run_sqlite() {
  build_release || return 0
  count_check "random SQL" test_release CAIRN_SEARCH_PERCENT=5000 sqlite_differential
  add_script "all of SQLite's test-suite" tools/test-sqlite.sh --full build-test-release
}

# All of PyTables' own tests. The wheel may be compiled with an older header than the newest one. If
# that header cannot be installed, the build fails.
run_pytables() {
  local header
  header=$(tools/blosc2/header.sh build-peer build-pytables-header) || header=none
  suites='' build build-test-pytables --buildtype=release -Dwerror=true -Dtests=disabled \
    -Dblosc2_api=enabled "-Dpkg_config_path=$header" -- engine/blosc2_api/blosc2 || return 0
  count_check "PyTables' tests" build-peer/bin/python tests/blosc2_api/pytables_suite.py \
    build-test-pytables/engine/blosc2_api/libblosc2.so
}

# What pip installs, the library as a subproject, and the tarball. `meson dist` has no
# --timeout-multiplier, so a quarter of the searches has to do.
run_packages() {
  build_release || return 0
  check_wheels all
  count_check subproject test_release CAIRN_TEST_SUBPROJECT=1 packaging
  count_check dist env CAIRN_SEARCH_PERCENT=25 \
    meson dist -C build-test-release --allow-dirty --formats gztar
}

run_debian() {
  check_debian build lint try again
}

# The kernels are chosen for the processor that valgrind shows.
run_valgrind() {
  tools/install-deps.sh valgrind
  build_release unit_tests || return 0
  run_tests build-test-release unit_{0,1,2} --wrapper "valgrind -q --error-exitcode=9" \
    --timeout-multiplier 20 "--test-args=--gtest_filter=$(quick_suites | tr -d "\n")"
}

# Each file by itself: it has to include what it uses.
run_debug() {
  build_and_test build-test-debug --buildtype=debug -Dwerror=true -Db_pch=false
}

# Only these: kill, soak and crash fork or are single threads. ThreadSanitizer ends a child that
# starts a thread if its parent had several, so the tests of the queue have a process to themselves.
run_threads() {
  local adapter=() adapter_test=()
  if pkg-config --exists blosc2; then
    adapter=(blosc2_api_threads_test)
    adapter_test=(blosc2_api_threads)
  fi
  build build-test-threads --buildtype=debugoptimized -Doptimization=1 -Dwerror=true \
    -Db_sanitize=thread -Dcpp_args=-g1 "${peer_options[@]}" -- concurrency_tests object_tests \
    sqlite_vfs_tests unit_tests "${adapter[@]}" || return 0
  local -x TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp"
  run_tests build-test-threads concurrency object sqlite_threads "${adapter_test[@]}"
  local forks='LockQueueTest.*:LogForkTest.*'  # whose children start threads
  run_tests build-test-threads unit_{0,1,2} "--test-args=--gtest_filter=-$forks"
  count_check "threads of children" build-test-threads/tests/unit_tests --gtest_filter="$forks"
}

# Another host, emulated. QEMU 7.2 ends children of processes that have several threads, and does not
# hand on what a program advises.
run_emulated() {  # processor
  tools/cross-root.sh "$1"
  build "build-test-$1" --cross-file "build-$1-root/cross.ini" --buildtype=release \
    -Dwerror=true -- unit_tests vector_tests || return 0
  run_tests "build-test-$1" unit_{0..23} vectors --timeout-multiplier 20 \
    "--test-args=--gtest_filter=-*Fork*:LockQueueTest.*:OwnerProcessTest.*:ReadAhead.*"
}

run_s390x() {
  run_emulated s390x
}

run_aarch64() {
  run_emulated aarch64
}

run_clang() {
  tools/install-deps.sh clang
  use_compiler clang clang++
  build_and_test build-test-clang --buildtype=release -Dwerror=true
}

run_tidy() {
  tools/install-deps.sh clang clang-tidy libc6-dev-i386 lib32stdc++-12-dev
  use_compiler clang clang++
  count_check clang-tidy tidy build-test-tidy
  count_check narrowing check_narrowing build-test-tidy
}

run_coverage() {
  count_check coverage tools/coverage.sh
}

use_peer
for part in "${chosen[@]}"; do
  echo "==== $part"
  begin=$SECONDS
  use_compiler gcc g++
  "run_$part"
  echo "==== $part took $(((SECONDS - begin) / 60)) min $(((SECONDS - begin) % 60)) s"
done
tell_sums
