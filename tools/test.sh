#!/usr/bin/env bash
# Builds for release and runs all tests; with --sanitize also builds with sanitizers and runs them
# all again; with --full does what tools/test-full.sh adds. The last line says "N passed, N failed";
# exit status 1 when any failed.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
  '' | --sanitize) ;;
  --full) exec tools/test-full.sh ;;
  *)
    echo "usage: tools/test.sh [--sanitize | --full]" >&2
    exit 2
    ;;
esac

tools/install-deps.sh
source tools/test-runs.sh

[[ -n ${CXX-} ]] || use_compiler gcc g++
use_peer
build_and_test_release
[[ ${1-} != --sanitize ]] || build_and_test_sanitized
tell_sums
