#!/usr/bin/env bash
# Installs the header blosc2.h that the wheel of PyTables in a virtual environment was compiled with,
# and prints the folder of its pkg-config file:
#
#   tools/blosc2/header.sh VENV HEADERS
#
# The wheel of a python-blosc2 brings the header. HEADERS is a virtual environment for it, and is
# made if it does not exist.
set -euo pipefail

tools=$(cd "$(dirname "$0")" && pwd)

if [[ $# -ne 2 ]]; then
  echo "usage: header.sh VENV HEADERS" >&2
  exit 2
fi
venv=$1 headers=$2
wheel=$("$venv/bin/python" "$tools/pytables_library.py" header)
[[ -x $headers/bin/pip ]] || python3 -m venv "$headers" >&2
"$headers/bin/pip" install --quiet --no-deps --only-binary=:all: "$wheel" >&2
site=$("$headers/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
folder=$site/blosc2/lib/pkgconfig
# The file of older wheels names folders of the machine that built them.
# shellcheck disable=SC2016  # pkg-config expands it
sed -i -e 's|^libdir=.*|libdir=${pcfiledir}/..|' \
  -e 's|^includedir=.*|includedir=${pcfiledir}/../../include|' "$folder/blosc2.pc"
echo "$folder"
