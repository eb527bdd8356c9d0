"""Runs a program in a directory of its own, which goes with it: in_empty_directory.py PROGRAM."""

import os
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as directory:
    sys.exit(subprocess.run([os.path.abspath(sys.argv[1])], cwd=directory, check=False).returncode)
