#!/usr/bin/env bash
# Builds for release and runs all tests, random searches for a quarter of their length; with
# --sanitize runs them whole, and also builds with sanitizers and runs all tests again; with --full
# does what tools/test-full.sh adds. The last line says "N passed, N failed"; exit status 1 when any
# failed.
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

# Random searches are short unless all is asked for.
[[ -n ${1-} ]] || export CAIRN_SEARCH_PERCENT="${CAIRN_SEARCH_PERCENT:-25}"

# The browser looks at plots.
tools/install-deps.sh chromium
source tools/test-runs.sh

[[ -n ${CXX-} ]] || use_compiler gcc g++
use_peer
build_and_test_release
[[ ${1-} != --sanitize ]] || build_and_test_sanitized
tell_sums
