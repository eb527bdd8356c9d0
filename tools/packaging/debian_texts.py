"""Writes what Debian's packages say of Cairn from where the repository says it.

    debian_texts.py version SOURCE SECONDS          the version of the packages, to standard output
    debian_texts.py changelog SOURCE SECONDS        debian/changelog, to standard output
    debian_texts.py dist-info SOURCE DIST_PACKAGES  the metadata of the Python package

SECONDS is the time of the last commit. A version that is not released yet is older than the release,
and ends with that time.
"""

import os
import re
import sys
import textwrap
import time
import tomllib

MAINTAINER = re.compile(r"(?m)^Maintainer: (.*)$")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def header_version(source):
    return re.search(r'kVersion = "([^"]*)"', read(source, "include/cairn/version.h")).group(1)


def newest(source):
    """What CHANGELOG.md says of the version of the headers: the rest of its heading, and its text."""
    version = header_version(source)
    found = re.search(rf"(?ms)^## {re.escape(version)}, ([^\n]*)\n(.*?)(?=^## |\Z)", read(source, "CHANGELOG.md"))
    if found is None:
        raise SystemExit(f"debian_texts: CHANGELOG.md: no heading '## {version}, …', the version of version.h")
    return found.groups()


def version_of(source, seconds):
    heading, _ = newest(source)
    suffix = time.strftime("~%Y%m%d.%H%M%S", time.gmtime(int(seconds))) if heading == "not released yet" else ""
    return header_version(source) + suffix


def changelog(source, seconds):
    heading, text = newest(source)
    to = "UNRELEASED" if heading == "not released yet" else "unstable"
    out = [f"cairn ({version_of(source, seconds)}) {to}; urgency=medium"]
    for block in re.findall(r"(?ms)^(?:### |- )?\S.*?(?=\n\n|\n- |\n### |\Z)", text):
        words = " ".join(block.split())
        if words.startswith("### "):
            out += ["", f"  [ {words[4:]} ]"]
        else:
            # Links of Markdown name files that are not in the packages.
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", words.removeprefix("- "))
            if len(out) == 1:
                out.append("")
            out += textwrap.wrap(words, 78, initial_indent="  * ", subsequent_indent="    ",
                                 break_long_words=False, break_on_hyphens=False)  # fmt: skip
    maintainer = MAINTAINER.search(read(source, "tools/packaging/debian/control")).group(1)
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(int(seconds)))
    return "\n".join([*out, "", f" -- {maintainer}  {date}"]) + "\n"


def dist_info(source, folder):
    """Writes what pip would: programs find the package's version and its plugins by it."""
    project = tomllib.loads(read(source, "pyproject.toml"))["project"]
    version = header_version(source)
    target = os.path.join(folder, f"{project['name'].replace('-', '_')}-{version}.dist-info")
    os.makedirs(target, exist_ok=True)
    metadata = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}",
                f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}",
                *(f"Requires-Dist: {name}" for name in project["dependencies"])]  # fmt: skip
    points = []
    for group, names in project.get("entry-points", {}).items():
        points += [f"[{group}]", *(f"{name} = {value}" for name, value in names.items())]
    for name, lines in {"METADATA": metadata, "entry_points.txt": points}.items():
        with open(os.path.join(target, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


def main(what, source, argument):
    if what == "version":
        print(version_of(source, argument))
    elif what == "changelog":
        print(changelog(source, argument), end="")
    else:
        dist_info(source, argument)


if __name__ == "__main__":
    main(*sys.argv[1:])
