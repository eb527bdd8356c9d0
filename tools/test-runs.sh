# Builds and runs tests for the scripts that source it, and keeps the sums. They begin at the top of
# the repository and end with `tell_sums`.
# shellcheck shell=bash

export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"

passed=0
failed=0
peer_options=()

# The tests that `build` builds.
suites=cli,concurrency,crash,fuzz,hdf5,interop,packaging,python,sequences,sqlite,unit,vectors

# Compares with C-Blosc2: one that pkg-config knows, or else that of the wheel.
use_peer() {
  local found=${PKG_CONFIG_PATH-} python=python3
  tools/peer-venv.sh
  if [[ -d build-peer/blosc2 ]]; then
    found+="${found:+:}$PWD/build-peer/blosc2/lib/pkgconfig"
    python=$PWD/build-peer/bin/python
  fi
  export PKG_CONFIG_PATH=$found
  peer_options=("-Dpkg_config_path=${found//:/,}" "-Dpeer_python=$python")
  tell_peers
}

tell_peer() {  # pkg-config name, title
  if pkg-config --exists "$1"; then
    echo "$2: found $(pkg-config --modversion "$1"), compared with"
  else
    echo "$2: not found, its tests are skipped"
  fi
}

tell_peers() {
  tell_peer blosc2 C-Blosc2
  tell_peer blosc C-Blosc
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
  # Where there is a wrapper its name is part of the log's.
  if counts=$(count_cases "$1"/meson-logs/testlog*.junit.xml); then
    read -r ok bad skipped <<<"$counts"
  fi
  if [[ $2 -ne 0 && $bad -eq 0 ]]; then bad=1; fi
  echo "$1: $ok passed, $bad failed, $skipped skipped"
  passed=$((passed + ok))
  failed=$((failed + bad))
}

# The programs that later builds use.
use_compiler() {  # C, C++
  export CC=$1 CXX=$2
  if command -v ccache >/dev/null; then
    export CC="ccache $1" CXX="ccache $2"
  fi
}

# Builds these targets, or all. Fails, and counts as a failure, when they do not build.
build() {  # build folder, meson options [-- target...]
  local dir=$1 options=("-Dsuites=$suites") log
  shift
  while [[ $# -gt 0 && $1 != -- ]]; do
    options+=("$1")
    shift
  done
  log=$(mktemp)
  echo "== $dir: meson setup ${options[*]}"
  # A folder of another compiler or of other options is made again.
  if { meson setup "$dir" --reconfigure "${options[@]}" || meson setup "$dir" --wipe "${options[@]}" ||
    meson setup "$dir" "${options[@]}"; } >"$log" 2>&1 &&
    meson compile -C "$dir" "${@:2}" >>"$log" 2>&1; then
    rm "$log"
    return 0
  fi
  tail -n 60 "$log"
  echo "$dir: does not build"
  failed=$((failed + 1))
  rm "$log"
  return 1
}

run_tests() {  # build folder, arguments of meson test
  local dir=$1 status=0
  find "$dir" -maxdepth 1 -name '*.xml' -delete
  rm -f "$dir"/meson-logs/testlog*.junit.xml
  # Twice as many as there are processors: many wait for the disk.
  meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier 3 \
    --num-processes $((2 * $(nproc))) "${@:2}" || status=$?
  add_cases "$dir" "$status"
}

build_and_test() {  # build folder, meson options
  build "$@" "${peer_options[@]}" || return 0
  run_tests "$1"
}

# Anything that passes or fails as a whole.
count_check() {  # title, command
  echo "== $1"
  if "${@:2}"; then
    echo "$1: 1 passed, 0 failed"
    passed=$((passed + 1))
  else
    echo "$1: 0 passed, 1 failed"
    failed=$((failed + 1))
  fi
}

# Runs tests of the release build that are told by a variable to do all that they can.
test_release() {  # variable, tests
  env "$1" meson test -C build-test-release --no-rebuild --print-errorlogs \
    --timeout-multiplier 3 "${@:2}"
}

# Builds the wheels of the Python packages, and uses them.
check_wheels() {  # "checkout", or "all" to build from the source distribution as well
  count_check wheels test_release "CAIRN_TEST_WHEEL=$1" python_wheel python_blosc2_pco_wheel
}

# As they are for users: without what a build for tests looks at.
check_debian() {  # steps of tools/packaging/debian.sh
  local step
  for step in "$@"; do
    count_check "Debian packages: $step" env -u PKG_CONFIG_PATH tools/packaging/debian.sh "$step"
  done
}

# The same wheels and packages with less optimisation, for the least processor, and without what
# debuggers need: what they hold and how they install is looked at, and they build in a third of the
# time.
check_packages() {
  local quick='-O1 -DHWY_COMPILE_ONLY_STATIC'
  CXXFLAGS=$quick check_wheels checkout
  DEB_BUILD_OPTIONS=noautodbgsym DEB_CFLAGS_APPEND='-O1 -g0' DEB_CXXFLAGS_APPEND="$quick -g0" \
    check_debian build lint
}

# What the floors of the engine, the tool and the C API do by themselves.
build_and_test_core() {
  suites=cli,concurrency,crash,sequences,unit,vectors build build-test-core --buildtype=release \
    -Dwerror=true -Dhdf5=disabled -Dpython=disabled -Ds3=disabled -Dsqlite=disabled || return 0
  CAIRN_SEARCH_PERCENT="${CAIRN_SEARCH_PERCENT:-25}" run_tests build-test-core --no-suite model
}

# What every change has to pass. Here libdeflate codes zlib streams, and both libraries are built.
release_options=(--buildtype=release -Dwerror=true -Dlibdeflate=enabled -Ddefault_library=both)
build_and_test_release() {
  build_and_test build-test-release "${release_options[@]}"
}

# It runs on one processor, so it runs beside other checks. `end_script` adds what it counts.
begin_sqlite_suite() {
  begin_script "SQLite's test-suite" tools/test-sqlite.sh build-test-release
}

# Most of its time passes in the store, so it runs beside a build. `end_script` adds what it counts.
begin_object_store() {
  begin_script "object store" tools/test-object-store.sh build-test-release
}

# Little optimisation and no more than line numbers: it builds in half the time. Here zlib itself
# codes zlib streams. Another type of build would set its own optimisation when it is set up again.
build_sanitized() {  # meson options
  build build-test-sanitize --buildtype=custom -Ddebug=true -Doptimization=g -Dwerror=true \
    -Db_sanitize=address,undefined -Db_lundef=false \
    -Dcpp_args="-fno-sanitize-recover=all -g1 -D_GLIBCXX_ASSERTIONS" \
    -Dlibdeflate=disabled "${peer_options[@]}" "$@"
}

# Starts a script whose last line says "N passed, N failed", and leaves it to `end_script`.
begin_script() {  # title, command
  script_title=$1
  script_log=$(mktemp)
  "${@:2}" >"$script_log" 2>&1 &
}

# Waits for the script that was started last, and adds what it counts.
end_script() {
  local last
  wait $! || true
  echo "== $script_title"
  cat "$script_log"
  last=$(tail -n 1 "$script_log")
  rm "$script_log"
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
  fi
}

add_script() {  # title, command
  begin_script "$@"
  end_script
}

# Fails when a test did, or when there was none.
tell_sums() {
  [[ ${#peer_options[@]} -eq 0 ]] || tell_peers
  echo "$passed passed, $failed failed"
  [[ $failed -eq 0 && $passed -gt 0 ]]
}
