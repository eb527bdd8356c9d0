#!/usr/bin/env bash
# Checks what no compiler does: the format, which floor includes which, and the size of files.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
complain() {
  echo "check-style: $*" >&2
  status=1
}

mapfile -t sources < <(find include engine tools tests fuzz docs -name '*.h' -o -name '*.cc' | sort)

clang-format --dry-run -Werror "${sources[@]}" || complain "run clang-format -i on the files above"

for file in "${sources[@]}"; do
  lines=$(wc -l <"$file")
  [[ $lines -le 500 ]] || complain "$file: $lines lines, but 500 is the most"
done

# The floors that each floor may include; see docs/architecture.md.
declare -A floors=(
  [base]="base"
  [codec]="base codec"
  [filter]="base filter"
  [chunk]="base codec filter chunk"
  [format]="base codec filter chunk format"
  [storage]="base storage"
  [frame]="base codec filter chunk format storage frame"
)
for file in "${sources[@]}"; do
  case $file in
    engine/*) floor=${file#engine/} floor=${floor%%/*} allowed=${floors[$floor]-none} ;;
    tests/* | fuzz/*) continue ;;  # tests may reach every floor
    *) allowed="" ;;               # the public headers and those who use them
  esac
  while read -r included; do
    [[ " $allowed " == *" $included "* ]] || complain "$file: includes engine/$included"
  done < <(sed -nE 's|^ *# *include *[<"]engine/([a-z_]+)/.*|\1|p' "$file")
done

# The engine includes no class that forwards to it, but for the bodies of these and what uses them.
for file in "${sources[@]}"; do
  case $file in
    engine/frame/api/* | engine/frame/repair/*) continue ;;
    engine/*) ;;
    *) continue ;;
  esac
  if found=$(grep -nE '#include "cairn/(frame|snapshot|writer)\.h"' "$file"); then
    complain "$file: $found"
  fi
done

# Failures are statuses, and nothing outside steers the engine. Comments may use the words.
for file in "${sources[@]}"; do
  [[ $file == engine/* ]] || continue
  if found=$(sed 's|//.*||' "$file" | grep -nE '\b(getenv|throw|abort *\()'); then
    complain "$file: $found"
  fi
done

# Where bytes are laid out, base/endian.h alone knows the order of the host. These are left out:
for file in engine/{base,chunk,codec,filter,format,format/legacy,frame/*}/*.{h,cc}; do
  case $file in
    engine/base/endian.h) continue ;;
    # They copy bytes, and take none for numbers.
    engine/base/bytes.h | engine/codec/blosclz_*coder.cc | engine/filter/shuffle.cc) continue ;;
    # They read numbers whole, at once for all threads or many in place, and turn them by ToOrder.
    engine/frame/files/frame_view.cc | engine/frame/index/committed_index.cc) continue ;;
  esac
  if found=$(sed 's|//.*||' "$file" |
    grep -nE '\b(memcpy *\(|bit_cast|std::endian|hto[bln]|[bln]e?toh)|reinterpret_cast<(const )?u?int(16|32|64)'); then
    complain "$file: $found"
  fi
done

shellcheck tools/*.sh tools/bench/*.sh .ci/run || complain "see shellcheck above"

exit $status
