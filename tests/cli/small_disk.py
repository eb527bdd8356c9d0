"""A small disk that a test can fill."""

import os
import subprocess


def mount(test, folder, size):
    """Makes the folder, and a file system of `size` in it until the test ends; or skips the test."""
    os.mkdir(folder)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        test.skipTest("mount is not installed")
    if done.returncode != 0:
        test.skipTest(f"a tmpfs cannot be mounted here: {done.stderr.strip()}")
    test.addCleanup(subprocess.run, ["umount", "--lazy", folder], check=True)


def fill(folder):
    """Another file takes what is free, to the last block."""
    with open(os.path.join(folder, "filler"), "ab", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass
