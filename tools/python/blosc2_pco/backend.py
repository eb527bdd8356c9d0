"""Builds the wheel blosc2-pco, for pip: Meson makes the library, at the top of the repository.

meson-python would take the project there for cairn-frames, and this one needs no module of Python:
one wheel is for all of them.
"""

import base64
import hashlib
import importlib.util
import os
import re
import subprocess
import sysconfig
import tempfile
import zipfile

_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.path.abspath(os.path.join(_HERE, os.pardir, os.pardir, os.pardir))
_OPTIONS = ["-Dblosc2_pco=enabled", "-Dpython=disabled", "-Ds3=disabled", "-Dtests=disabled", "-Dtool=disabled",
            "-Dzfp=disabled"]  # fmt: skip
_METADATA = """Metadata-Version: 2.1
Name: blosc2-pco
Version: {version}
Summary: The codec pco, which codes numbers as numbers, for python-blosc2 and C-Blosc2
Requires-Python: >=3.10
Requires-Dist: blosc2>=4
Requires-Dist: numpy>=1.23
"""
_WHEEL = """Wheel-Version: 1.0
Generator: cairn
Root-Is-Purelib: false
Tag: {tag}
"""


def _read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def _library(folder):
    """Returns the bytes of the library, which is built in a folder of its own."""
    # The headers are those of the C-Blosc2 in the wheel of python-blosc2.
    (package,) = importlib.util.find_spec("blosc2").submodule_search_locations
    path = [os.path.join(package, "lib", "pkgconfig"), os.environ.get("PKG_CONFIG_PATH", "")]
    env = {**os.environ, "PKG_CONFIG_PATH": ":".join(filter(None, path))}
    build, install = os.path.join(folder, "build"), os.path.join(folder, "install")
    subprocess.run(["meson", "setup", build, _ROOT, "--prefix=/", "--libdir=lib", *_OPTIONS], check=True, env=env)
    subprocess.run(["meson", "compile", "-C", build, "blosc2_pco"], check=True, env=env)
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--strip", "--tags=blosc2-pco",
                    f"--destdir={install}"], check=True, env=env)  # fmt: skip
    return _read(install, "lib", "libblosc2_pco.so")


def build_wheel(directory, config_settings=None, metadata_directory=None):
    header = _read(_ROOT, "include", "cairn", "version.h").decode()
    version = re.search(r'kVersion = "(.*)"', header).group(1)
    tag = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    info = f"blosc2_pco-{version}.dist-info"
    with tempfile.TemporaryDirectory() as folder:
        files = {
            "blosc2_pco/__init__.py": _read(_HERE, "blosc2_pco", "__init__.py"),
            "blosc2_pco/libblosc2_pco.so": _library(folder),
            f"{info}/METADATA": _METADATA.format(version=version).encode(),
            f"{info}/WHEEL": _WHEEL.format(tag=tag).encode(),
        }
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = f"blosc2_pco-{version}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # with the same date each time
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, data)
    return wheel
