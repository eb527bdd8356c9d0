"""Builds the Python package, for pip: meson-python does it, at the top of the repository."""

import functools
import os
import subprocess
import sys
import zipfile

import mesonpy
import sbom

_ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))


def _at_root(hook):
    @functools.wraps(hook)
    def run(*arguments, **named):
        here = os.getcwd()
        os.chdir(_ROOT)
        try:
            return hook(*arguments, **named)
        finally:
            os.chdir(here)

    return run


def _settings(given, kind="wheel"):
    """Returns the settings with a build folder that the next build of this kind uses again."""
    return {"build-dir": f"build-{kind}-{sys.implementation.cache_tag}", **(given or {})}


get_requires_for_build_sdist = _at_root(mesonpy.get_requires_for_build_sdist)
get_requires_for_build_wheel = _at_root(mesonpy.get_requires_for_build_wheel)
get_requires_for_build_editable = _at_root(mesonpy.get_requires_for_build_editable)


@_at_root
def build_sdist(directory, config_settings=None):
    return mesonpy.build_sdist(directory, _settings(config_settings))


def _tag_stable(path):
    """Tags a wheel whose modules use the stable ABI, and returns its name."""
    with zipfile.ZipFile(path) as wheel:
        is_stable = any(name.endswith(".abi3.so") for name in wheel.namelist())
    if not is_stable:
        return os.path.basename(path)
    tags = ["--python-tag", "cp312", "--abi-tag", "abi3"]
    done = subprocess.run([sys.executable, "-m", "wheel", "tags", "--remove", *tags, path],
                          check=True, capture_output=True, text=True)  # fmt: skip
    return done.stdout.strip()


@_at_root
def build_wheel(directory, config_settings=None, metadata_directory=None):
    settings = _settings(config_settings)
    # meson-python has the programs of the build folder look where those of the package do. The next
    # build runs them: for its manual, its completions and its stubs.
    places = [os.path.join(_ROOT, settings["build-dir"], place) for place in ("engine", "engine/object/s3")]
    os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [*places, os.environ.get("LD_LIBRARY_PATH")]))
    name = mesonpy.build_wheel(directory, settings, metadata_directory)
    path = os.path.join(directory, name)
    sbom.add_to(path, settings["build-dir"], "cairn-frames")
    return _tag_stable(path)


@_at_root
def build_editable(directory, config_settings=None, metadata_directory=None):
    # Of its own, because the package is loaded from there.
    return mesonpy.build_editable(directory, _settings(config_settings, "editable"), metadata_directory)
