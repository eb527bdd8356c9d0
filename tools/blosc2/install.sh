#!/usr/bin/env bash
# Puts Cairn's libblosc2 into a virtual environment, where PyTables uses it instead of its own:
#
#   tools/blosc2/install.sh --into VENV [LIBRARY]
#   tools/blosc2/install.sh --remove VENV
#
# LIBRARY is build/engine/blosc2_api/libblosc2.so if it is not given. --remove brings back what was
# there before. Anything unknown is refused, and then nothing has changed.
set -euo pipefail

tools=$(cd "$(dirname "$0")" && pwd)

usage() {
  echo "usage: install.sh --into VENV [LIBRARY] | --remove VENV" >&2
  exit 2
}

[[ $# -ge 2 ]] || usage
action=$1 venv=$2
case $action in
  --into) [[ $# -le 3 ]] || usage ;;
  --remove) [[ $# -eq 2 ]] || usage ;;
  *) usage ;;
esac
if [[ ! -f $venv/pyvenv.cfg || ! -x $venv/bin/python ]]; then
  echo "install.sh: $venv: expected a virtual environment, with pyvenv.cfg and bin/python" >&2
  exit 1
fi
if [[ $action == --into ]]; then
  library=${3:-$tools/../../build/engine/blosc2_api/libblosc2.so}
  exec "$venv/bin/python" "$tools/pytables_library.py" into "$library"
fi
exec "$venv/bin/python" "$tools/pytables_library.py" remove
