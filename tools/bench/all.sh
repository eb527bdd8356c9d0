#!/usr/bin/env bash
# Asks every question of cairn-bench and keeps tables, JSON and plots: tools/bench/all.sh BUILD RESULTS
set -euo pipefail

bench=$1/tools/bench/cairn-bench
results=$2
mkdir -p "$results"
for question in $("$bench" --list); do
  "$bench" "$question" --json "$results/$question.json" --table "$results/$question.md" \
    --plot "$results/$question.svg"
done
