#!/usr/bin/env bash
# Builds SQLite's own benchmark, with the library of this machine and for databases of extensions, as
# FOLDER/speedtest1: tools/bench/sqlite/speedtest1.sh FOLDER. Its source comes with the test-suite.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
"$here/../../sqlite-source.sh" "$1"
gcc -O2 -Dmain=Speedtest1 -c "$1/source/test/speedtest1.c" -o "$1/speedtest1.o"
gcc -O2 "$here/speedtest1.c" "$1/speedtest1.o" -lsqlite3 -o "$1/speedtest1"
