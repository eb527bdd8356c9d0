#!/usr/bin/env bash
# Checks by clang's -Wthread-safety that what a mutex guards is used with that mutex held:
# tools/check-locks.sh BUILD_DIR. Looks at the sources that have to do with mutexes, as they are
# configured in that folder for any compiler, and builds nothing. Takes half a minute on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."

# The arguments for each source that is compiled, or for each file that joins sources, one a line.
list_units() {  # build folder
  python3 - "$1" <<'PYTHON'
import json
import re
import shlex
import sys
from functools import cache
from pathlib import Path


@cache
def text(path):
    return path.read_text() if path.is_file() else ""


# Inline functions of a header are checked wherever it is included, but templates where they are used.
@cache
def locks(source):
    files = [source, source.with_suffix(".h")]
    for name in re.findall(r'#include "((?:engine|tools)/.*)"', text(source)):
        if re.search(r"^ *template", text(Path(name)), re.MULTILINE):
            files.append(Path(name))
    return any("engine/base/mutex.h" in text(file) for file in files)


build = Path(sys.argv[1])
units = set()
for entry in json.load(open(build / "compile_commands.json")):
    if not re.match(r"(\.\./)?(engine|tools)/.*\.(cc|cpp)$", entry["file"]):
        continue
    unit = (build / entry["file"]).resolve()
    sources = re.findall('#include<(.*)>', text(unit)) if "unity" in unit.name else [unit]
    if not any(locks((build / source).resolve().relative_to(Path.cwd())) for source in sources):
        continue
    kept = [a for a in shlex.split(entry["command"]) if re.match("-(I|isystem|D|std=|pthread)", a)]
    units.add(shlex.join([*kept, str(unit)]))
print("\n".join(sorted(units)))
PYTHON
}

units=$(list_units "$1")
[[ -n $units ]] || { echo "check-locks: nothing to look at in $1" >&2; exit 1; }
cd "$1"
xargs -P "$(nproc)" -L 1 \
  clang++ -fsyntax-only -Wno-everything -Wthread-safety -Werror <<<"$units"
