#!/usr/bin/env python3
"""Lists the classes with more member functions than a reader keeps in mind.

    tools/class-sizes.py [--most N] [FOLDER ...]

Prints the number, the file and the name of each class with more than N (30) of them. Counts the
functions that a class declares, constructors and operators included. Does not count friends, deleted
and defaulted functions, and functions of nested types.
"""

import argparse
import pathlib
import re

_NOISE = re.compile(
    r"//[^\n]*|/\*.*?\*/"  # comments
    r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''  # literals
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",  # directives
    re.S | re.M,
)
_CLASS = re.compile(
    r"\b(?:class|struct)\s+(?:[A-Z_]{4,}(?:\([^()]*\))?\s+)*([\w:]+)\s*(?:final\s*)?(?::(?!:)[^;()=]*)?$"
)
_MARKS = re.compile(r"\[\[[^\]]*\]\]|\b[A-Z][A-Z_]{3,}\b(?:\([^()]*\))?|\b(?:public|private|protected)\s*:")
_TEMPLATE = re.compile(r"template\s*<(?:[^<>]|<[^<>]*>)*>")
_OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|[^\s\w(]+|[\w:<>&*]+)\s*\(")
_OTHER = re.compile(r"^\s*(?:friend|using|typedef|static_assert|enum)\b")
_FUNCTION = re.compile(r"(?:^|[\w>&*]\s+[&*]*|explicit\s+)~?\w+\s*\(")


def _declares_function(statement):
    statement = _MARKS.sub("", _TEMPLATE.sub("", _OPERATOR.sub(" operator_(", statement))).strip()
    if _OTHER.match(statement) or re.search(r"=\s*(?:delete|default)\s*$", statement):
        return False
    # The value of a field may call a function.
    return bool(_FUNCTION.search(statement.split("=", maxsplit=1)[0]))


def classes(text):
    """The classes of a source, each with the number of functions that it declares."""
    found = []
    scopes = []  # the name of a class, or None, and its functions
    statement = ""
    for char in _NOISE.sub(" ", text):
        if char not in "{};":
            statement += char
            continue
        if char != "}" and scopes and scopes[-1][0] and _declares_function(statement):
            scopes[-1][1] += 1
        if char == "{":
            match = _CLASS.search(statement.rstrip())
            scopes.append([match.group(1) if match else None, 0])
        elif char == "}" and scopes:
            name, functions = scopes.pop()
            if name:
                found.append((name, functions))
        statement = ""
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--most", type=int, default=30)
    parser.add_argument("folders", nargs="*", default=["engine"])
    options = parser.parse_args()
    for folder in options.folders:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            if path.suffix not in (".h", ".cc"):
                continue
            for name, functions in classes(path.read_text(encoding="utf-8")):
                if functions > options.most:
                    print(functions, path, name)


if __name__ == "__main__":
    main()
