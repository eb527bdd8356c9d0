#!python
"""The command `cairn` of a wheel: runs the program in the package, without importing it."""

import importlib.util
import os
import sys

package = importlib.util.find_spec("cairn")
program = os.path.join(os.path.dirname(package.origin), "bin", "cairn")
os.execv(program, sys.argv)
