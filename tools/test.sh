#!/usr/bin/env bash
# Builds the library and the tool for release and runs their tests, random searches for a quarter of
# their length. With --sanitize, as CI does, builds everything and runs every test: for release,
# beside peers, a real object store and SQLite's own suite, or with sanitizers. Random searches take
# a seventh of their length then, and with sanitizers a tenth. It makes Debian packages and wheels,
# too. With --full runs the matrix of tools/test-full.sh, or the parts of it that are named. The last
# line says "N passed, N failed"; exit status 1 when any failed.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
  '' | --sanitize) ;;
  --full) exec tools/test-full.sh "${@:2}" ;;
  *)
    echo "usage: tools/test.sh [--sanitize | --full [PART...]]" >&2
    exit 2
    ;;
esac

tools/install-deps.sh
source tools/test-runs.sh

[[ -n ${CXX-} ]] || use_compiler gcc g++
if [[ ${1-} == --sanitize ]]; then
  # They look at plots, count instructions, check locks and run SQLite's own suite.
  tools/install-deps.sh chromium valgrind clang tcl tcl-dev make
  use_peer
  percent=${CAIRN_SEARCH_PERCENT-}
  export CAIRN_SEARCH_PERCENT=${percent:-15}
  # Searches, and what calls the tool or a peer: with sanitizers they take several times as long.
  suites=cli,concurrency,crash,hdf5,interop,packaging,python,sequences,sqlite,vectors \
    build_and_test_release
  begin_sqlite_suite
  count_check locks tools/check-locks.sh build-test-release
  count_check bench meson compile -C build-test-release cairn-bench
  end_script
  # Nothing runs beside this: a busy machine makes databases give their writer up more often.
  count_check costs tools/bench/costs.sh build-test-release
  check_packages
  begin_object_store
  # What reaches each line of the engine.
  suites=fuzz,sqlite,unit,vectors \
    build_sanitized -Dblosc2_api=disabled -Dblosc2_pco=disabled && sanitized=yes
  end_script
  if [[ -n ${sanitized-} ]]; then
    CAIRN_SEARCH_PERCENT=${percent:-10} run_tests build-test-sanitize
  fi
else
  build_and_test_core
fi
tell_sums
