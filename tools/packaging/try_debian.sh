#!/usr/bin/env bash
# Installs the packages of /cairn/packages in a fresh Debian and uses each of them there, as users do.
# tools/packaging/debian.sh runs this in a root of its own.
set -euo pipefail

export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
cd /cairn

install() {  # packages
  apt-get install -q -y --no-install-recommends "$@" >apt.log 2>&1 || {
    tail -n 30 apt.log
    return 1
  }
}

expect() {  # text, what was found
  [[ $2 == *"$1"* ]] || {
    echo "try_debian: line ${BASH_LINENO[0]}: expected '$1', got: ${2:0:500}" >&2
    return 1
  }
}

begin() {
  echo "-- $*"
  rm -rf /cairn/scratch
  mkdir /cairn/scratch
  cd /cairn/scratch
}

apt-get update -q >/dev/null

begin "cairn-tools: the tool, its man page and its completions"
install /cairn/packages/{libcairn0.1,libcairn-s3-0.1,cairn-tools}_*.deb
cairn --version
seq 1000 >lines
cairn pack lines lines.b2frame --codec zstd
expect zstd "$(cairn info lines.b2frame)"
cairn verify lines.b2frame
cairn cat lines.b2frame | cmp - lines
cairn log create temps.b2frame --field 'time:timestamp[s]' --field temp:f8
printf 'time,temp\n2026-11-24T10:00:00Z,20.5\n' | cairn log append temps.b2frame
expect 20.5 "$(cairn log query temps.b2frame)"
# A request reaches the network: libcurl is loaded.
expect "curl 7" "$(AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_REGION=c CAIRN_CALL_TIMEOUT=1 \
  AWS_ENDPOINT_URL=http://127.0.0.1:9 cairn info s3://bucket/name 2>&1 || true)"
install man-db bash-completion
expect "cairn pack [OPTIONS] IN OUT" "$(man cairn)"
[[ -z $(man --warnings cairn 2>&1 >/dev/null) ]]
# bash-completion finds the file by the name of the command.
expect "_cairn" "$(bash -c 'source /usr/share/bash-completion/bash_completion
  _completion_loader cairn || true
  complete -p cairn
  COMP_WORDS=(cairn log cr) COMP_CWORD=2
  _cairn
  [[ ${COMPREPLY[*]} == create ]]')"

begin "libcairn-dev: programs in C++ and C, by pkg-config, Meson and CMake, shared and static"
install /cairn/packages/libcairn-dev_*.deb g++ pkg-config
cp /cairn/example.c /cairn/example.cc .
prints="24.2 24.3 24.4, from 4 chunks"
# shellcheck disable=SC2046  # words are words
{
  g++ -std=c++20 example.cc -o program $(pkg-config --cflags --libs cairn)
  expect "$prints" "$(./program)"
  cc -std=c99 example.c -o program_in_c $(pkg-config --cflags --libs cairn)
  ./program_in_c
  g++ -std=c++20 example.cc -o static \
    $(pkg-config --static --cflags --libs cairn | sed 's/-lcairn/-l:libcairn.a/')
  expect "$prints" "$(./static)"
  printf '#include "cairn/s3.h"\nint main() { return cairn::OpenUri("s3:").ok(); }\n' >s3.cc
  g++ -std=c++20 s3.cc -o s3 $(pkg-config --cflags --libs cairn_s3)
  ./s3
}
install cmake meson
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(example LANGUAGES CXX)
find_package(cairn 0.1 REQUIRED)
add_executable(example example.cc)
target_link_libraries(example PRIVATE cairn::cairn)
CMAKE
cmake -G Ninja -S . -B by-cmake >/dev/null
cmake --build by-cmake >/dev/null
expect "$prints" "$(by-cmake/example)"
cat >meson.build <<'MESON'
project('example', 'cpp', default_options: 'cpp_std=c++20')
executable('example', 'example.cc', dependencies: dependency('cairn'))
MESON
meson setup by-meson >/dev/null
ninja -C by-meson >/dev/null
expect "$prints" "$(by-meson/example)"

begin "python3-cairn: NumPy arrays, and what the package says of itself"
install /cairn/packages/python3-cairn_*.deb
python3 - <<'PYTHON'
import importlib.metadata
import cairn
import numpy as np

made = cairn.asarray(np.arange(1000.0).reshape(10, 100), "a.b2nd", codec="zstd")
made.append(np.ones((2, 100)))
read = cairn.open("a.b2nd")
assert read.verify().ok and read.shape == (12, 100)
assert np.array_equal(read[3], np.arange(300.0, 400.0)) and read[11].sum() == 100
assert importlib.metadata.version("cairn-frames") == cairn.__version__
(point,) = importlib.metadata.entry_points(group="xarray.backends", name="cairn")
print("cairn", cairn.__version__, "with NumPy", np.__version__, "finds", point.value)
PYTHON
cairn verify a.b2nd

begin "cairn-sqlite: a database in a frame, and a frame as a table"
install /cairn/packages/cairn-sqlite_*.deb sqlite3
extension=$(echo /usr/lib/*/cairn/cairn_sqlite.so)
printf '%s\n' ".load $extension" ".open file:app.db?vfs=cairn" "CREATE TABLE t(a);" \
  "INSERT INTO t VALUES (42);" | sqlite3
expect 42 "$(printf '%s\n' ".load $extension" ".open file:app.db?vfs=cairn" "SELECT a FROM t;" | sqlite3)"
cairn verify app.db
seq 5 >numbers
cairn pack numbers numbers.b2nd --typesize 2 --shape 5 --dtype '<u2' --quiet
expect 5 "$(sqlite3 :memory: ".load $extension" "CREATE VIRTUAL TABLE t USING cairn('numbers.b2nd');" \
  "SELECT count(*) FROM t;")"
# The Python package finds the extension.
expect 42 "$(python3 -c 'import cairn.sqlite; print(*cairn.sqlite.connect("app.db").execute("SELECT a FROM t").fetchone())')"

begin "cairn-hdf5: h5py and h5repack write, h5dump reads"
install /cairn/packages/cairn-hdf5_*.deb hdf5-tools python3-h5py
python3 - <<'PYTHON'
import h5py
import numpy as np

temps = np.arange(4096, dtype="<i4").reshape(64, 64)
with h5py.File("a.h5", "w") as file:
    file.create_dataset("temps", data=temps, chunks=(32, 32), compression=32026, compression_opts=(0, 0, 0, 0, 5, 1, 5))
with h5py.File("a.h5") as file:
    assert np.array_equal(file["temps"][...], temps)
    print("chunks of", file["temps"].id.get_storage_size() // 4, "bytes in place of", 32 * 32 * 4)
PYTHON
expect " 4095" "$(h5dump -d temps a.h5)"
h5repack -f UD=32026,0,7,0,0,0,0,5,1,1 a.h5 b.h5
expect " 4095" "$(h5dump -d temps b.h5)"

begin "all of them are removed again"
apt-get purge -q -y 'libcairn*' 'cairn-*' python3-cairn >/dev/null 2>&1
[[ -z $(find /usr /etc -name '*cairn*') ]]
