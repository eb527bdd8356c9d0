#!/usr/bin/env bash
# Counts the instructions and allocations of the commonest operations under callgrind, and compares
# them with docs/performance/costs.md: tools/bench/costs.sh [--update | --only TEXT] [BUILD_FOLDER].
# Fails where a row is another one by more than 2%, or by an allocation; --update writes the new
# figures there, which go with the change that moved them, and whose message says why. --only prints
# the operations whose names contain a text.
set -euo pipefail
cd "$(dirname "$0")/../.."

options=()
while [[ ${1-} == --* ]]; do
  options+=("$1")
  if [[ $1 == --only ]]; then
    options+=("$2")
    shift
  fi
  shift
done
build=${1:-build-test-release}

tools/install-deps.sh valgrind
meson compile -C "$build" cairn-costs cairn_sqlite >/dev/null
python3 tools/bench/costs.py "$build/tools/bench/costs/cairn-costs" docs/performance/costs.md \
  "${options[@]}"
