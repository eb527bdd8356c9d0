"""What all tests of the tool share: a scratch folder, and running the tool in it."""

import fcntl
import json
import os
import random
import select
import shutil
import subprocess
import tempfile
import termios
import time
import unittest

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "vectors")
CODECS = ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]


def sample(size, seed=1):
    """Bytes that compress a little: a walk of small steps with noise in between."""
    rng = random.Random(seed)
    walk = bytearray(size)
    value = 0
    for i in range(0, size, 4):
        value = (value + rng.randrange(7)) & 0xFFFFFFFF
        walk[i : i + 4] = value.to_bytes(4, "little")[: size - i]
    return bytes(walk)


def noise(size, seed=2):
    return random.Random(seed).randbytes(size)


def _end(tool):
    tool.kill()
    tool.wait()
    for stream in [tool.stdin, tool.stdout, tool.stderr]:
        try:
            stream.close()
        except BrokenPipeError:
            pass  # bytes that were not read


class CliTest(unittest.TestCase):
    tool = None  # path of the program under test

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="cairn-cli-")
        self.addCleanup(scratch.cleanup)
        self.dir = scratch.name

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return name

    def copy_vector(self, name):
        """Puts a frame of another Blosc2 into the folder and gives its name there."""
        shutil.copy(os.path.join(VECTORS, name), self.dir)
        return os.path.basename(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.dir))

    def run_tool(self, *args, stdin=b"", **kwargs):
        return subprocess.run(
            [self.tool, *map(str, args)],
            **({"stdin": stdin} if hasattr(stdin, "fileno") else {"input": stdin}),
            cwd=self.dir,
            stdout=kwargs.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
            **kwargs,
        )

    def ok(self, *args, stdin=b""):
        """Runs the tool, which must be fine and quiet on stderr, and gives its stdout."""
        done = self.run_tool(*args, stdin=stdin)
        self.assertEqual((done.returncode, done.stderr), (0, b""), args)
        return done.stdout

    def fails(self, status, *args, stdin=b"", **kwargs):
        """Runs the tool, which must complain in one line, and gives that line."""
        done = self.run_tool(*args, stdin=stdin, **kwargs)
        message = done.stderr.decode()
        self.assertEqual(done.returncode, status, (args, message))
        self.assertRegex(message, r"\Acairn: [^\n]+\n\Z")
        return message.strip()

    def start(self, *args):
        """Starts the tool, which talks through pipes and does not outlive the test."""
        pipe = subprocess.PIPE
        tool = subprocess.Popen([self.tool, *map(str, args)], cwd=self.dir, stdin=pipe, stdout=pipe,
                                stderr=pipe)  # fmt: skip
        self.addCleanup(_end, tool)
        return tool

    def receive(self, stream, size):
        """What comes through a pipe: so many bytes, unless it ends or nothing comes for long."""
        data = b""
        while len(data) < size and select.select([stream], [], [], 120)[0]:
            piece = os.read(stream.fileno(), size - len(data))
            if not piece:
                break
            data += piece
        return data

    def wait_until_read(self, stream):
        """Until the tool has taken from its standard input all that was written there."""
        end = time.monotonic() + 60
        while fcntl.ioctl(stream, termios.FIONREAD, bytes(4)) != bytes(4):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)

    def wait_for_temporary(self):
        """Until a frame is being made beside its place."""
        end = time.monotonic() + 60
        while not any(name.endswith(".tmp") for name in self.files()):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)

    def pack(self, data, *args, name="f.b2frame"):
        self.ok("pack", "-", name, "--quiet", *args, stdin=data)
        return name

    def info(self, name, *args):
        return json.loads(self.ok("info", name, "--json", *args))

    def flip_byte(self, name, position):
        content = bytearray(self.read(name))
        content[position] ^= 0x10
        self.write(name, content)
