"""Replaces the libblosc2 in PyTables' wheel, or brings it back.

Usage: pytables_library.py into LIBRARY | remove | header, by the Python of the virtual environment

A wheel has two of them: one that its modules are linked to, in tables.libs, and one that the package
loads first. The originals stay beside them until they are brought back. `header` prints which
python-blosc2 brings the header that the wheel was compiled with.
"""

import base64
import csv
import hashlib
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys

# Each soname, its versions of C-Blosc2, and the python-blosc2 whose wheel brings the header.
KNOWN_SONAMES = {
    "libblosc2.so.7": ("C-Blosc2 2.23", "blosc2==4.1.0"),
    "libblosc2.so.8": ("C-Blosc2 3.0 or 3.1", "blosc2==4.2.0"),
    "libblosc2.so.9": ("C-Blosc2 3.2 or newer", "blosc2==4.14.1"),
}
KEPT = ".before-cairn"  # added to the name of an original
STAGED = ".tmp"  # added to the name of a file that is not complete yet
NOTE = "cairn-libblosc2.json"  # in tables.libs: what was installed

# Prints the files that a process has mapped once PyTables is there and has compressed something.
TRIAL = """
import os, tables, tempfile
with tempfile.TemporaryDirectory() as folder:
    filters = tables.Filters(complevel=5, complib="blosc2")
    with tables.open_file(os.path.join(folder, "trial.h5"), "w") as file:
        file.create_carray("/", "x", obj=list(range(10000)), filters=filters)
    with tables.open_file(os.path.join(folder, "trial.h5")) as file:
        assert file.root.x[9999] == 9999
print(open("/proc/self/maps").read())
"""


def refuse(message):
    script = "header.sh" if sys.argv[1] == "header" else "install.sh"
    print(f"{script}: {message}", file=sys.stderr)
    sys.exit(1)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def soname(path):
    try:
        listed = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        refuse("readelf is missing: install binutils")
    except subprocess.CalledProcessError:
        refuse(f"{path}: expected a library")
    names = [line.split("[")[1].rstrip("]") for line in listed.stdout.splitlines() if "(SONAME)" in line]
    return names[0] if names else "none"


def known_soname(path):
    """The soname of a library of the wheel, which Cairn can be built for."""
    wanted = soname(path)
    if wanted not in KNOWN_SONAMES:
        refuse(f"{path}: expected one of {', '.join(KNOWN_SONAMES)}, got {wanted}")
    return wanted


def package():
    """The distribution of PyTables in this environment, and its site-packages."""
    try:
        tables = importlib.metadata.distribution("tables")
    except importlib.metadata.PackageNotFoundError:
        refuse(f"{sys.prefix}: expected PyTables, got none")
    folder = pathlib.Path(tables.locate_file("")).resolve()
    if not folder.is_relative_to(pathlib.Path(sys.prefix).resolve()):
        refuse(f"{folder}: PyTables is not in the environment {sys.prefix}")
    return tables, folder


def libraries(folder):
    """The two libraries of PyTables' wheel."""
    linked = [path for path in (folder / "tables.libs").glob("libblosc2-*.so.*")
              if not path.name.endswith((KEPT, STAGED))]
    loaded = folder / "tables" / "libblosc2.so"
    if len(linked) != 1 or not loaded.is_file():
        refuse(f"{folder}: expected tables/libblosc2.so and one tables.libs/libblosc2-*.so.*, as a wheel has them")
    return [linked[0], loaded]


def kept(path):
    """Where the original of a library is while Cairn's is in its place."""
    return path.with_name(path.name + KEPT)


def is_genuine(tables, folder, path, content):
    """Whether the file `content` is what the wheel brought as `path`."""
    name = path.relative_to(folder).as_posix()
    recorded = {row[0]: row[1] for row in csv.reader((tables.read_text("RECORD") or "").splitlines()) if row}
    hashed = base64.urlsafe_b64encode(bytes.fromhex(digest(content))).rstrip(b"=").decode()
    return recorded.get(name) == f"sha256={hashed}"


def put(source, target):
    """Replaces a file in one step."""
    staged = target.with_name(target.name + STAGED)
    shutil.copy(source, staged)
    os.replace(staged, target)


def bring_back(paths):
    for path in paths:
        os.replace(kept(path), path)


def into(library):
    library = pathlib.Path(library).resolve()
    tables, folder = package()
    note = folder / "tables.libs" / NOTE
    if note.exists():
        refuse(f"{note}: a library of Cairn is there already: first --remove it")
    paths = libraries(folder)
    for path in paths:
        if not is_genuine(tables, folder, path, path):
            refuse(f"{path}: expected the library of the wheel, as its RECORD says: it was replaced")
    if not library.is_file():
        refuse(f"{library}: expected Cairn's library, got none")
    wanted = known_soname(paths[1])
    if soname(library) != wanted:
        version, package_of_header = KNOWN_SONAMES[wanted]
        refuse(f"{library}: expected {wanted}, which PyTables was compiled for, got {soname(library)}: "
               f"build Cairn with the header of {version}, as {package_of_header} brings it")
    for path in paths:
        shutil.copy2(path, kept(path))
    note.write_text(json.dumps({"version": tables.version, "sha256": digest(library)}))
    for path in paths:
        put(library, path)
    trial = subprocess.run([sys.executable, "-c", TRIAL], capture_output=True, text=True)
    if trial.returncode != 0 or paths[0].name not in trial.stdout:
        bring_back(paths)
        note.unlink()
        refuse(f"{library}: PyTables does not work with it: {(trial.stderr or trial.stdout)[-800:]}")
    print(f"PyTables {tables.version} in {sys.prefix} uses {library}")


def remove():
    tables, folder = package()
    note = folder / "tables.libs" / NOTE
    if not note.exists():
        refuse(f"{folder}: expected a library of Cairn, got none that this program put there")
    paths = libraries(folder)
    # An installation or a removal that was interrupted leaves the original of some files in place.
    replaced = [path for path in paths if not is_genuine(tables, folder, path, path)]
    for path in replaced:
        if not kept(path).is_file() or not is_genuine(tables, folder, path, kept(path)):
            refuse(f"{path}: it is not the library of the wheel, and neither is {kept(path).name}: "
                   f"install PyTables {tables.version} again, and then --remove once more")
    bring_back(replaced)
    for path in replaced:
        print(f"{path}: put back")
    for leftover in (*paths[0].parent.glob("libblosc2*"), *paths[1].parent.glob("libblosc2*")):
        if leftover.name.endswith((KEPT, STAGED)):
            leftover.unlink()
    note.unlink()
    print(f"PyTables {tables.version} in {sys.prefix} uses its own library again")


def header():
    _, folder = package()
    print(KNOWN_SONAMES[known_soname(libraries(folder)[1])][1])


def main():
    if sys.argv[1] == "into":
        into(sys.argv[2])
    elif sys.argv[1] == "header":
        header()
    else:
        remove()


main()
