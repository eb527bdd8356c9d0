"""Runs a program in a directory of its own that a web server serves: uri_test.py PROGRAM.

The server's address is in CAIRN_TEST_HTTP_URL.
"""

import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "support"))
from range_server import RangeServer  # noqa: E402

with tempfile.TemporaryDirectory() as directory:
    server = RangeServer(directory)
    done = subprocess.run([os.path.abspath(sys.argv[1])], cwd=directory, check=False,
                          env=dict(os.environ, CAIRN_TEST_HTTP_URL=server.url))  # fmt: skip
    server.close()
    sys.exit(done.returncode)
