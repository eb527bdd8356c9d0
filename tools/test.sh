#!/usr/bin/env bash
# Builds with sanitizers and for release, and runs all tests in both. The last line says
# "N passed, N failed"; exit status 1 when any failed.
set -euo pipefail
cd "$(dirname "$0")/.."

tools/install-deps.sh
if command -v ccache >/dev/null; then
  export CC="${CC:-ccache gcc}" CXX="${CXX:-ccache g++}"
fi
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"

passed=0
failed=0

tell_peer() {  # pkg-config name, title
  if pkg-config --exists "$1"; then
    echo "$2: found $(pkg-config --modversion "$1"), compared with"
  else
    echo "$2: not found, its tests are skipped"
  fi
}

# Prints "passed failed skipped" of a test log that Meson wrote.
count_cases() {
  python3 - "$1" <<'PYTHON'
import sys
import xml.etree.ElementTree as xml

cases = list(xml.parse(sys.argv[1]).iter("testcase"))
failed = sum(1 for c in cases if c.find("failure") is not None or c.find("error") is not None)
skipped = sum(1 for c in cases if c.find("skipped") is not None or c.get("status") == "notrun")
print(len(cases) - failed - skipped, failed, skipped)
PYTHON
}

# The sum stays honest when there is no log or when it hides a failure that Meson saw.
add_cases() {  # build folder, exit status of meson test
  local counts ok=0 bad=0 skipped=0
  if counts=$(count_cases "$1/meson-logs/testlog.junit.xml"); then
    read -r ok bad skipped <<<"$counts"
  fi
  if [[ $2 -ne 0 && $bad -eq 0 ]]; then bad=1; fi
  echo "$1: $ok passed, $bad failed, $skipped skipped"
  passed=$((passed + ok))
  failed=$((failed + bad))
}

build_and_test() {  # build folder, meson options
  local dir=$1 status=0 log
  shift
  log=$(mktemp)
  echo "== $dir: meson setup $*"
  # A folder of another compiler or of other options is made anew.
  if ! { meson setup "$dir" --reconfigure "$@" || meson setup "$dir" --wipe "$@" ||
    meson setup "$dir" "$@"; } >"$log" 2>&1 || ! meson compile -C "$dir" >>"$log" 2>&1; then
    tail -n 60 "$log"
    echo "$dir: does not build"
    failed=$((failed + 1))
    rm "$log"
    return
  fi
  rm "$log"
  find "$dir" -maxdepth 1 -name '*.xml' -delete
  rm -f "$dir/meson-logs/testlog.junit.xml"
  meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 3 || status=$?
  add_cases "$dir" "$status"
}

tell_peer blosc2 C-Blosc2
tell_peer blosc C-Blosc
# Little optimisation and no more than line numbers: it builds in half the time. Here zlib itself
# codes zlib streams, below libdeflate does.
build_and_test build-test-sanitize --buildtype=debugoptimized -Doptimization=1 -Dwerror=true \
  -Db_sanitize=address,undefined -Db_lundef=false -Dcpp_args="-fno-sanitize-recover=all -g1" \
  -Dlibdeflate=disabled
build_and_test build-test-release --buildtype=release -Dwerror=true -Dlibdeflate=enabled

echo "$passed passed, $failed failed"
[[ $failed -eq 0 && $passed -gt 0 ]]
