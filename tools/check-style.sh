#!/usr/bin/env bash
# Checks what no compiler does: the format, which floor includes which, the size of files, and how
# comments begin.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
complain() {
  echo "check-style: $*" >&2
  status=1
}

mapfile -t sources < <(find include engine tools tests fuzz docs -name '*.h' -o -name '*.cc' -o -name '*.c' |
  sort)

clang-format --dry-run -Werror "${sources[@]}" || complain "run clang-format -i on the files above"

for file in "${sources[@]}"; do
  lines=$(wc -l <"$file") most=500
  [[ $file != engine/* ]] || most=450
  ((lines <= most)) || complain "$file: $lines lines, but $most is the most"
done

# Comments begin with a subject or a verb; see docs/style.md.
awk '
  FNR == 1 { inside = 0 }
  { comment = $0 ~ /^ *\/\// }
  comment && !inside &&
    /^ *\/\/ (Of|With|What|Where|Whether|Those|It|That|One|The same)([^A-Za-z_0-9:( ]| [^`]|$)/ {
    print FILENAME ":" FNR ":" $0
    found = 1
  }
  { inside = comment }
  END { exit found }' "${sources[@]}" >&2 || complain "the comments above begin badly: see docs/style.md"

# A reader keeps at most 30 functions of a class in mind.
while read -r count file class; do
  complain "$file: class $class declares $count functions, but 30 is the most"
done < <(tools/class-sizes.py engine)

# What each floor of engine/, and each room of engine/frame/ and of the tools, may include besides
# itself; see docs/architecture.md. Tests may reach everything.
floors="base codec filter chunk format format/legacy storage storage/posix object"  # under the rooms of a frame
declare -A allowed=(
  [engine/base]=""
  [engine/codec/numbers]="base"
  [engine/codec/bitpack]="base numbers"
  [engine/codec/pco]="base numbers"
  [engine/codec]="base filter numbers bitpack pco"
  [engine/filter]="base"
  [engine/blosc2_pco]="base codec"  # and the public headers
  [engine/blosc2_api/process]="base"  # and the public headers, like those that follow
  [engine/blosc2_api/files]="base storage storage/posix process"
  [engine/blosc2_api/chunks]="base filter chunk process files"
  [engine/blosc2_api/schunks]="base storage process files chunks"
  [engine/blosc2_api/arrays]="base process chunks schunks"
  [engine/chunk]="base codec filter"
  [engine/format]="base codec filter chunk legacy"
  [engine/format/legacy]="base codec filter chunk format"
  [engine/storage]="base"
  [engine/storage/posix]="base storage"
  [engine/object]="base format storage"  # and the public headers
  [engine/object/s3/http]="base"  # and the public headers, like those that follow
  [engine/object/s3/signing]="base http"
  [engine/object/s3/keys]="base http signing"
  [engine/object/s3/settings]="base http keys"
  [engine/object/s3/store]="base http signing keys"
  [engine/object/s3]="base settings http"
  [engine/dtype]="base"  # and the public headers, like those that follow
  [engine/log/schema]="base"
  [engine/log/stats]="base"
  [engine/log/records]="base"
  [engine/log/keys]="base records"
  [engine/log/state]="base stats records keys"
  [engine/log/query]="base schema stats records keys state"
  [engine/log/write]="base stats records keys state query"
  [engine/log]="base schema stats records keys state query write"
  # and the public headers
  [engine/collection/store]="base codec"
  [engine/collection/ledger]="base format frame/api frame/files frame/replay frame/state"
  [engine/collection/members]="base frame/api frame/files frame/open frame/replay ledger"
  [engine/collection/objects]="base format object frame/api frame/files frame/layout frame/open frame/state frame/writer ledger members"
  [engine/collection/held]="base format frame/api frame/files frame/layout frame/stage ledger members"
  [engine/collection/write]="base format frame/api frame/files frame/layout frame/open frame/stage frame/sync frame/writer storage ledger members held"
  [engine/collection]="base frame/api frame/files store ledger members objects held write"
  [engine/c_api]="base"  # and the public headers
  [engine/frame/files]="$floors"
  [engine/frame/index]="$floors"
  [engine/frame/state]="$floors files index"
  [engine/frame/array]="$floors files index state"
  [engine/frame/read]="$floors files index state array"
  [engine/frame/replay]="$floors files index state"
  [engine/frame/open]="$floors files index state read replay"
  [engine/frame/stage]="$floors files index state array read"
  [engine/frame/space]="$floors files state replay stage"
  [engine/frame/sync]="$floors files stage"
  [engine/frame/checkpoint]="$floors files index state array read open stage space sync"
  [engine/frame/journal]="$floors files index state replay open stage space sync checkpoint"
  [engine/frame/layout]="$floors files state replay open stage space sync checkpoint journal"
  [engine/frame/writer]="$floors files state array open stage checkpoint layout"
  [engine/frame/copy]="$floors files index state read open stage checkpoint writer"
  [engine/frame/api]="$floors files index state array read replay open stage checkpoint writer copy"
  [engine/frame/repair]="$floors files index state array read replay open stage checkpoint writer copy"
  [tools/cairn/text]=""
  [tools/cairn/io]="text tools/members"
  [tools/cairn/records]="text io tools/dtypes"
  [tools/cairn/plot]="text"
  [tools/cairn/flags]="text io records"
  [tools/cairn/report]="text io flags records"
  [tools/cairn/streams]="text io records report"
  [tools/cairn/commands]="text io flags records plot report streams"
  [tools/cairn/log]="text io flags records plot report streams commands"
  [tools/cairn]="text io commands"
  [tools/hdf5]=""
  [tools/dtypes]=""
  [tools/members]=""
  [tools/sqlite/base]=""
  [tools/sqlite/vfs]="base"
  [tools/sqlite/table]="base tools/dtypes tools/members"
  [tools/sqlite]="base vfs table"
  [tools/python/binding]="tools/cairn/plot"
  [tools/bench/results]=""
  [tools/bench/data]=""
  [tools/bench/contestants]=""
  [tools/bench/questions]="results data contestants"
  [tools/bench/sqlite]="results"
  [tools/bench/costs]="data sqlite"
  [tools/bench]="results contestants"
)
declare -A may
for room in "${!allowed[@]}"; do
  may["$room $room"]=1
  [[ $room != tools/* ]] || may["$room tools"]=1  # tools/status.h
  for other in ${allowed[$room]}; do
    for folder in "$other" "$room/$other" "${room%/*}/$other" "engine/$other"; do may["$room $folder"]=1; done
  done
done
for file in "${sources[@]}"; do
  case $file in tests/* | fuzz/*) continue ;; esac
  room=${file%/*}
  while read -r included; do
    # The one header of the engine that tools use: it needs nothing of the library.
    [[ $file == tools/* && $included == engine/base/mutex.h ]] && continue
    [[ -v may["$room ${included%/*}"] ]] || complain "$file: includes $included"
  done < <(sed -nE 's,^ *# *include *[<"]((engine|tools)/.*)[>"].*,\1,p' "$file")
done

# No two files include each other, however far around; a header and its source are one.
if ! loops=$(grep -HoE '^#include "(engine|tools)/[^"]+' "${sources[@]}" | grep -v '^tests\|^fuzz' |
  sed -E 's|\.[a-z]+:#include "| |; s|\.[a-z]+$||; s|-inl||' | tsort 2>&1 >/dev/null); then
  complain "these files include each other in a circle: $loops"
fi

# The engine includes no class that forwards to it, except in the bodies of these and their users.
for file in "${sources[@]}"; do
  case $file in
    engine/frame/api/* | engine/frame/repair/* | engine/log/* | engine/collection/*) continue ;;
    engine/blosc2_api/* | engine/c_api/*) continue ;;
    engine/*) ;;
    *) continue ;;
  esac
  if found=$(grep -nE '#include "cairn/(frame|snapshot|writer)\.h"' "$file"); then
    complain "$file: $found"
  fi
done

# Failures are statuses, and nothing outside steers the engine, but where a program asks for that.
# Comments may use the words.
for file in "${sources[@]}"; do
  case $file in
    engine/object/s3/settings/environment.cc) continue ;;
    engine/blosc2_api/process/environment.cc) continue ;;
    engine/base/check.h) continue ;;  # ends the program of a test
    engine/*) ;;
    *) continue ;;
  esac
  if found=$(sed 's|//.*||' "$file" | grep -nE '\b(getenv|throw|abort *\()'); then
    complain "$file: $found"
  fi
done

# Clang checks the locks of engine/base/mutex.h, and no others.
for file in "${sources[@]}"; do
  case $file in
    engine/base/mutex.h) continue ;;
    engine/* | tools/*) ;;
    *) continue ;;
  esac
  if found=$(sed 's|//.*||' "$file" |
    grep -nE '\bstd::((shared_|recursive_|timed_)*mutex|(lock_guard|(unique|scoped|shared)_lock|condition_variable)\b)'); then
    complain "$file: $found"
  fi
done

# Where bytes are laid out, base/endian.h alone knows the order of the host. These are left out:
for file in "${sources[@]}"; do
  case $file in
    engine/storage/*) continue ;;
    engine/*) ;;
    *) continue ;;
  esac
  case $file in
    engine/base/endian.h) continue ;;
    # They copy bytes, and take none for numbers.
    engine/base/bytes.h | engine/codec/blosclz_*coder.cc | engine/filter/shuffle.cc) continue ;;
    # They take floats for their bits.
    engine/codec/pco/number.h | engine/codec/bitpack/decimal.h) continue ;;
    # They read numbers whole, at once for all threads or many in place, and turn them by ToOrder.
    engine/frame/files/frame_file.cc | engine/frame/index/committed_index.cc) continue ;;
  esac
  if found=$(sed 's|//.*||' "$file" |
    grep -nE '\b(memcpy *\(|bit_cast|std::endian|hto[bln]|[bln]e?toh)|reinterpret_cast<(const )?u?int(16|32|64)'); then
    complain "$file: $found"
  fi
done

# Prose wraps; tables and commands that a reader copies do not.
if found=$(LC_ALL=C.UTF-8 grep -nE '^.{101}' ./*.md docs/*.md | grep -vE ':(\||    )'); then
  complain "longer than 100 columns: $found"
fi

shellcheck tools/*.sh tools/bench/*.sh tools/packaging/*.sh .ci/run || complain "see shellcheck above"

exit $status
