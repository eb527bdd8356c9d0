#!/usr/bin/env bash
# Runs SQLite's own test-suite with Cairn as the default VFS, and compares it with SQLite's own and
# with tests/sqlite/suite/exceptions.txt: tools/test-sqlite.sh [--full] [BUILD_FOLDER]. Without --full
# only the files of tests/sqlite/suite/chosen.txt. What it fetches and builds stays in
# BUILD_FOLDER/sqlite-suite. The last line says "N passed, N failed", files of the suite; where the
# source of SQLite cannot be had it says that the tests are skipped, and nothing fails.
set -euo pipefail
cd "$(dirname "$0")/.."

how_much=()
if [[ ${1-} == --full ]]; then
  how_much=(--full)
  shift
fi
build=${1:-build-test-release}
extension=$build/tools/sqlite/cairn_sqlite.so
suite=$build/sqlite-suite

skip() {
  echo "SQLite's test-suite: $*: its tests are skipped"
  echo "0 passed, 0 failed"
  exit 0
}

[[ -e $extension ]] || skip "$extension is not built"
log=$(mktemp)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/cairn-sqlite-XXXXXX")
trap 'rm -rf "$log" "$scratch"' EXIT
tools/install-deps.sh tcl tcl-dev make >"$log" 2>&1 || skip "tcl-dev cannot be installed"
mkdir -p "$suite"
if ! tools/sqlite-source.sh "$suite" >"$log" 2>&1; then
  cat "$log"
  skip "its source cannot be had"
fi
cat "$log"

build_fixture() {
  local tcl
  tcl=$(find /usr/lib -name tclConfig.sh -print -quit)
  # shellcheck source=/dev/null
  source "$tcl"
  mkdir -p "$suite/build"
  for part in use_vfs logical_bytes; do
    # shellcheck disable=SC2086  # flags
    gcc -O1 $TCL_INCLUDE_SPEC -c "tests/sqlite/suite/$part.c" -o "$suite/build/$part.o"
  done
  cd "$suite/build"
  [[ -e Makefile ]] || ../source/configure --with-tcl="${tcl%/*}"
  make testfixture CFLAGS=-O1 OPTS=-DSQLITE_EXTRA_INIT=UseCairn \
    LIBTCL="$TCL_LIB_SPEC $PWD/use_vfs.o $PWD/logical_bytes.o"
}

newest=$(find tests/sqlite/suite -name '*.[ch]' -newer "$suite/build/testfixture" 2>&1 || true)
if [[ -n $newest ]]; then
  echo "Building testfixture of SQLite $(cat "$suite/source/VERSION") in $suite/build"
  rm -f "$suite/build/testfixture"
  if ! (set -e; build_fixture) >"$log" 2>&1; then
    tail -n 30 "$log"
    echo "testfixture does not build"
    echo "0 passed, 1 failed"
    exit 1
  fi
fi

python3 tests/sqlite/suite/run.py --fixture "$suite/build/testfixture" \
  --tests "$suite/source/test" --extension "$extension" --scratch "$scratch" "${how_much[@]}"
