#!/usr/bin/env bash
# Builds with sanitizers and for release, and runs all tests in both; with --full also what
# tools/test-full.sh adds. The last line says "N passed, N failed"; exit status 1 when any failed.
set -euo pipefail
cd "$(dirname "$0")/.."

[[ ${1-} != --full ]] || exec tools/test-full.sh

tools/install-deps.sh
source tools/test-runs.sh

[[ -n ${CXX-} ]] || use_compiler gcc g++
build_and_test_usual
tell_sums
