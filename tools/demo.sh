#!/usr/bin/env bash
# Builds Cairn and does its main job on real files of this machine, step by step, with figures.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

say() { printf '\n== %s\n' "$*"; }

# Shows a command, runs it and keeps the time it took in $took. Where its output is redirected,
# the command is still shown.
exec 3>&1
took=0
run() {
  printf '$ %s\n' "$*" >&3
  local begin=$EPOCHREALTIME status=0
  "$@" || status=$?
  took=$(python3 -c "print(f'{$EPOCHREALTIME - $begin:.3f}')")
  return $status
}

expect() { printf '   %s\n' "$*"; }

stop() {
  echo "demo: $*" >&2
  exit 1
}

say "Building for release"
tools/install-deps.sh
if command -v ccache >/dev/null; then
  export CC="${CC:-ccache gcc}" CXX="${CXX:-ccache g++}"
fi
[[ -f build-demo/build.ninja ]] ||
  meson setup build-demo --buildtype=release -Dtests=disabled >/dev/null
meson compile -C build-demo >build-demo/compile.log || { tail -n 40 build-demo/compile.log; exit 1; }
echo "build-demo/tools/cairn: $(build-demo/tools/cairn --version)"
PATH="$root/build-demo/tools:$PATH"

work=$(mktemp -d "${TMPDIR:-/tmp}/cairn-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# 1. Real files: a program, text, and numbers.
say "Real files of this machine, in $work"
cp "$(readlink -f "$(g++ -print-prog-name=cc1plus)")" program.bin
find /usr/include -name '*.h*' -type f -size -1024k -print0 | sort -z |
  xargs -0 cat 2>/dev/null | head -c 64M >headers.txt || true
python3 - numbers.i64 <<'PYTHON'
import array, os, sys

# Of every file under /usr: size, time of change in ns, inode. Items of 8 bytes.
numbers = array.array("q")
for folder, folders, names in os.walk("/usr"):
    folders.sort()
    for name in sorted(names):
        info = os.lstat(os.path.join(folder, name))
        numbers.extend((info.st_size, info.st_mtime_ns, info.st_ino))
columns = array.array("q")
for column in range(3):
    columns.extend(numbers[column::3])
with open(sys.argv[1], "wb") as file:
    columns.tofile(file)
PYTHON
stat -c '   %s bytes %n' program.bin headers.txt numbers.i64

# 2. Pack, read back, compare.
table=""
pack_and_compare() {  # file, options...
  local file=$1 frame=$1.b2frame packing reading
  shift
  say "Packing $file with $*"
  run cairn pack "$file" "$frame" "$@" --force
  packing=$took
  printf '$ cairn cat %s | cmp - %s\n' "$frame" "$file"
  local begin=$EPOCHREALTIME
  cairn cat "$frame" | cmp - "$file" || stop "$file did not come back"
  reading=$(python3 -c "print(f'{$EPOCHREALTIME - $begin:.3f}')")
  expect "the same bytes"
  table+=$(python3 - "$file" "$frame" "$packing" "$reading" "$*" <<'PYTHON'
import os, sys

name, frame, packing, reading, options = sys.argv[1:]
size, packed = os.path.getsize(name), os.path.getsize(frame)
print(f"{name:<12} {options:<72} {size / 1e6:7.1f} {packed / 1e6:7.1f} {size / packed:7.2f}"
      f" {size / 1e6 / max(float(packing), 1e-3):8.0f} {size / 1e6 / max(float(reading), 1e-3):8.0f}")
PYTHON
  )$'\n'
}
pack_and_compare program.bin --codec lz4 --typesize 1
pack_and_compare program.bin --codec zstd --typesize 8 --filters shuffle --allow-partial
pack_and_compare headers.txt --codec blosclz --filters none
pack_and_compare headers.txt --codec zstd --level 3 --filters none --chunk-size 4MiB
pack_and_compare numbers.i64 --codec lz4 --typesize 8 --filters bitshuffle
pack_and_compare numbers.i64 --codec zstd --typesize 8 --filters shuffle,bytedelta --meta unit=mixed

# 3. Look into it, read a part.
say "What is in a frame"
run cairn info numbers.i64.b2frame
run cairn info headers.txt.b2frame

say "Any part, without decoding the rest: 1000 items of 8 bytes from number 20000 on"
run cairn cat numbers.i64.b2frame --first-item 20000 --items 1000 >part.i64
cmp part.i64 <(tail -c +160001 numbers.i64 | head -c 8000) || stop "the part differs"
expect "8000 bytes in $took s, the same as in the file"

# 4. Standard input of unknown size.
say "From a pipe"
tar -c -C /usr/include/c++ . 2>/dev/null | run cairn pack - headers.tar.b2frame --codec zstd --filters none
cairn cat headers.tar.b2frame | tar -t >names
expect "tar finds $(wc -l <names) names in it"

# 5. Check, damage, check again.
say "Checking"
run cairn verify ./*.b2frame

say "One flipped bit in a copy"
cp headers.txt.b2frame damaged.b2frame
python3 - <<'PYTHON'
import json, subprocess

info = json.loads(subprocess.check_output(["cairn", "info", "damaged.b2frame", "--json", "--chunks"]))
chunk = info["chunks"][2]
with open("damaged.b2frame", "r+b") as file:
    position = chunk["offset"] + chunk["cbytes"] // 2
    file.seek(position)
    byte = file.read(1)[0]
    file.seek(position)
    file.write(bytes([byte ^ 1]))
print(f"   flipped the lowest bit of byte {position}, in chunk 2")
PYTHON
if run cairn verify damaged.b2frame; then stop "the damage was not seen"; fi
if run cairn cat damaged.b2frame --chunk 2 >/dev/null; then stop "damaged data was given out"; fi
run cairn cat damaged.b2frame --chunk 3 | cmp - <(cairn cat headers.txt.b2frame --chunk 3) ||
  stop "another chunk is lost"
expect "chunk 3 is as readable as before"

# 6. Append.
say "Appending to a frame that was closed long ago"
run cairn append headers.txt.b2frame program.bin
cairn cat headers.txt.b2frame | cmp - <(cat headers.txt program.bin) || stop "the sum differs"
run cairn verify headers.txt.b2frame

# 7. A single chunk.
say "One chunk, without a frame"
run cairn encode --codec zstd --typesize 8 numbers.i64 >chunk
cairn decode chunk | cmp - numbers.i64 || stop "the chunk differs"
expect "$(stat -c %s numbers.i64) bytes in a chunk of $(stat -c %s chunk), and back the same"

# 8. The peer, where it is installed.
say "Read by C-Blosc2"
if pkg-config --exists blosc2; then
  # shellcheck disable=SC2046  # the flags are many words
  cc -O2 -o read_frame "$root/tools/demo_peer.c" $(pkg-config --cflags --libs blosc2) \
    -Wl,-rpath,"$(pkg-config --variable=libdir blosc2)"
  ./read_frame headers.txt.b2frame | cmp - <(cat headers.txt program.bin) || stop "it reads other bytes"
  ./read_frame numbers.i64.b2frame | cmp - numbers.i64 || stop "it reads other bytes"
  expect "C-Blosc2 $(pkg-config --modversion blosc2) reads the same bytes"
else
  expect "not installed (pkg-config knows no blosc2), skipped"
fi

say "Figures (MB are 10^6 bytes; MB/s from file to frame, and from frame through a pipe to cmp)"
printf '%-12s %-72s %7s %7s %7s %8s %8s\n' file options MB packed ratio 'pack/s' 'cat/s'
printf '%s' "$table"
printf '\nAll of it came back as it went in.\n'
