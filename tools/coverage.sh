#!/usr/bin/env bash
# Reports how much of engine/ the tests run: tools/coverage.sh
#
# Builds with clang in build-coverage, runs the tests of the engine that need no other Blosc, with
# the seeds of the fuzz targets, and prints lines and branches of each floor. Branches are those of
# the source, as clang counts them: gcc counts those of the object code, with paths of exceptions
# that are never thrown. Nothing is left out. Exit status 1 when a test fails or less is run than the
# bounds say.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install-deps.sh clang libclang-rt-dev llvm
source tools/test-runs.sh

dir=build-coverage
instrument=-fprofile-instr-generate
rm -rf "$dir/profiles"
# A quarter of the crashes runs the same code as all of them, and shows each planted bug.
export CAIRN_SEARCH_PERCENT="${CAIRN_SEARCH_PERCENT:-25}"
export LLVM_PROFILE_FILE="$PWD/$dir/profiles/%4m.profraw"
use_compiler clang clang++
if build "$dir" --buildtype=debug -Dwerror=true -Dcpp_args="$instrument -fcoverage-mapping" \
  -Dcpp_link_args="$instrument" -- unit_tests vector_tests concurrency_tests crash_tests \
  edit_sequence_tests c_api_tests object_tests object_{edits,faults,fence}_tests \
  ./tools/cairn:executable; then
  # Of the tool's tests those of logs alone: where others limit the size of files, no profile could
  # be written.
  run_tests "$dir" unit_{0,1,2} vectors concurrency crash_0 crash_1 edit_sequences c_api \
    object object_{edits,faults,fence} cli_{append_log,log,log_follow,log_formats}
  mapfile -t seeds < <(meson test -C "$dir" --list --suite fuzz 2>/dev/null | sed -n 's,.* / ,,p')
  meson compile -C "$dir" fuzz-corpora "${seeds[@]}" >/dev/null
  run_tests "$dir" "${seeds[@]}"
fi

llvm-profdata merge -o "$dir/profile" "$dir"/profiles/*.profraw
llvm-cov export -summary-only -instr-profile "$dir/profile" "$dir/engine/libcairn.so" \
  >"$dir/coverage.json"
count_check "coverage" tools/coverage.py "$dir/coverage.json" 95 85
tell_sums
