#!/usr/bin/env bash
# Counts the instructions and allocations of the commonest operations under callgrind, and compares
# them with docs/performance/costs.md: tools/bench/costs.sh [--update | --only TEXT] [BUILD_FOLDER].
# Fails where a row is another one by more than 2%, or by an allocation; --update writes these rows
# there, which go with the change that moved them, and whose message says why. --only prints
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
meson compile -C "$build" cairn-costs cairn-costs-switch cairn_sqlite ./tools/cairn:executable >/dev/null
costs=$build/tools/bench/costs
export PYTHONPATH=$build/tools/python
for python in build-peer/bin/python python3; do
  "$python" -c 'import cairn' 2>/dev/null || continue
  options+=(--python "$python" "$costs/libcairn-costs-switch.so")
  break
done
[[ " ${options[*]} " == *' --python '* ]] || echo 'costs: the calls of Python are not counted: not built'
python3 tools/bench/costs.py "$costs/cairn-costs" "$build/tools/cairn" docs/performance/costs.md "${options[@]}"
