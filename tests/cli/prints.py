"""Runs an example in an empty directory: prints.py SOURCE PROGRAM [ARGUMENT...].

It has to print what its source says after "Prints:".
"""

import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77


def promised(source):
    with open(source, encoding="utf-8") as file:
        text = re.sub(r"(?m)^//( |$)", "", file.read())
    return re.sub(r"(?m)^(?:    |  )", "", re.search(r"(?m)^Prints:\n((?:  .*\n)+)", text).group(1))


def main(source, *command):
    command = [os.path.abspath(command[0]), *command[1:]]
    if source.endswith(".py") and "import cairn\n" in open(source, encoding="utf-8").read():
        if subprocess.run([command[0], "-c", "import cairn"], check=False, stderr=subprocess.DEVNULL).returncode:
            return SKIPPED
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode or done.stdout != promised(source):
        print(f"status {done.returncode}\nexpected:\n{promised(source)}\ngot:\n{done.stdout}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
