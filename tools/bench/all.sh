#!/usr/bin/env bash
# Asks the questions of cairn-bench, or those that are named, and keeps JSON, tables and pictures:
# tools/bench/all.sh [--rounds N] BUILD RESULTS [QUESTION...]
set -euo pipefail

options=()
if [[ ${1-} == --rounds ]]; then
  options+=(--rounds "$2")
  shift 2
fi
bench=$1/tools/bench/cairn-bench
results=$2
shift 2
mkdir -p "$results"
if [[ $# -eq 0 ]]; then
  mapfile -t all < <("$bench" --list)
  set -- "${all[@]}"
fi
for question in "$@"; do
  "$bench" "$question" "${options[@]}" --json "$results/$question.json"
done
"$(dirname "$0")/draw.py" "$results"
