#!/usr/bin/env bash
# Fuzzes the engine: tools/fuzz.sh [SECONDS] [TARGET...]
#
# Builds the targets of fuzz/ with clang, makes their seeds, and runs each one (all by default) for
# SECONDS (600), as many at a time as JOBS says (2). What a target learns stays in
# build-fuzz/grown/TARGET for the next run; inputs that break something are put into
# build-fuzz/finds/TARGET. Ends with a table; exit status 1 when there are finds.
set -euo pipefail
cd "$(dirname "$0")/.."

has_libfuzzer() {
  command -v clang++ >/dev/null &&
    echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
    clang++ -x c++ -fsanitize=fuzzer,address - -o /dev/null 2>/dev/null
}

build() {
  [[ -d build-fuzz ]] ||
    CC=clang CXX=clang++ meson setup build-fuzz -Dfuzz=true --buildtype=debugoptimized \
      -Db_lundef=false -Dcpp_args=-gline-tables-only
  ninja -C build-fuzz fuzz_targets
}

run_target() {  # seconds, target
  local folders=("build-fuzz/grown/$2") folder most_mb=256
  mkdir -p "build-fuzz/grown/$2" "build-fuzz/finds/$2"
  for folder in "build-fuzz/fuzz/corpora/$2" "fuzz/regressions/$2"; do
    [[ ! -d $folder ]] || folders+=("$folder")
  done
  # What the other library asks for, in a process of its own, is no find.
  [[ $2 != peer_* ]] || most_mb=8192
  nice -n 19 "build-fuzz/fuzz/fuzz_$2" -max_total_time="$1" -max_len=16384 -timeout=20 \
    -rss_limit_mb=2048 -malloc_limit_mb="$most_mb" -print_final_stats=1 \
    -artifact_prefix="build-fuzz/finds/$2/" "${folders[@]}" >"build-fuzz/finds/$2.log" 2>&1 || true
}

print_row() {  # target
  local log=build-fuzz/finds/$1.log runs edges found
  runs=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed -nE 's/.* cov: ([0-9]+) .*/\1/p' "$log" | tail -n 1)
  found=$(find "build-fuzz/finds/$1" -type f -newer build-fuzz/finds/start | wc -l)
  printf '%-20s %12s %8s %6s\n' "$1" "${runs:-?}" "${edges:-?}" "$found"
  # A log without figures is of a run that broke off.
  [[ $found -eq 0 && -n $runs ]]
}

seconds=600
if [[ ${1-} =~ ^[0-9]+$ ]]; then
  seconds=$1
  shift
fi
has_libfuzzer || tools/install-deps.sh clang libclang-rt-dev
build
targets=("$@")
[[ $# -gt 0 ]] || mapfile -t targets < <(
  find build-fuzz/fuzz -maxdepth 1 -type f -name 'fuzz_*' -executable -printf '%f\n' |
    sed 's/^fuzz_//' | sort)

mkdir -p build-fuzz/finds
touch build-fuzz/finds/start
for target in "${targets[@]}"; do
  [[ $(jobs -rp | wc -l) -lt ${JOBS:-2} ]] || wait -n
  run_target "$seconds" "$target" &
done
wait

status=0
printf '%-20s %12s %8s %6s\n' target executions edges finds
for target in "${targets[@]}"; do
  print_row "$target" || status=1
done
exit $status
