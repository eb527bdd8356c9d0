"""Programs build with Cairn as docs/packaging.md shows, CAIRN_BUILD being the build folder.

As a subproject it is configured, and built only where CAIRN_TEST_SUBPROJECT is set: that takes minutes.
"""

import glob
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["CAIRN_BUILD"]
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
EXAMPLE_PRINTS = "24.2 24.3 24.4, from 4 chunks\n"
# Abseil's headers that are not named like their pkg-config module.
MODULE_OF_HEADER = {"absl/base/attributes.h": "absl_core_headers"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def snippet(language, number=0):
    """What docs/packaging.md shows."""
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", read(SOURCE, "docs/packaging.md"))[number]


class PackagingTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="cairn-packaging.")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = dict(os.environ)
        for name in ["docs/examples/example.cc", "docs/examples/example.c"]:
            shutil.copy(os.path.join(SOURCE, name), self.dir)

    def write(self, name, text):
        os.makedirs(os.path.dirname(os.path.join(self.dir, name)), exist_ok=True)
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as file:
            file.write(text)

    def ok(self, *command):
        """Standard output of a command that has to succeed."""
        done = subprocess.run(command, cwd=self.dir, env=self.env, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout


class InstalledTest(PackagingTest):
    @classmethod
    def setUpClass(cls):
        root = tempfile.mkdtemp(prefix="cairn-installed.")
        cls.addClassCleanup(shutil.rmtree, root)
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", root], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        (path,) = glob.glob(f"{root}/**/pkgconfig/cairn.pc", recursive=True)
        # The prefix in cairn.pc is that without the root.
        cls.pc = re.sub(r"(?m)^prefix=", f"prefix={root}", read(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(cls.pc)
        cls.prefix = re.search(r"(?m)^prefix=(.*)$", cls.pc).group(1)
        cls.libdir = os.path.dirname(os.path.dirname(path))
        cls.has_shared = os.path.exists(f"{cls.libdir}/libcairn.so")
        cls.has_static = os.path.exists(f"{cls.libdir}/libcairn.a")

    def setUp(self):
        super().setUp()
        self.env.update(PKG_CONFIG_PATH=f"{self.libdir}/pkgconfig", LD_LIBRARY_PATH=self.libdir)

    def require(self, is_there, what):
        if not is_there:
            self.skipTest(f"no {what}")

    def check_example(self, program, is_shared):
        needed = re.findall(r"NEEDED.*\[(libcairn.*)\]", self.ok("readelf", "--dynamic", program))
        self.assertEqual(needed, ["libcairn.so.0.1"] if is_shared else [])
        self.assertEqual(self.ok(program), EXAMPLE_PRINTS)

    def test_every_header_the_tool_and_files_for_builds_are_installed(self):
        names = {os.path.relpath(os.path.join(folder, name), self.prefix)
                 for folder, _, files in os.walk(self.prefix) for name in files}  # fmt: skip
        headers = {f"include/cairn/{name}" for name in os.listdir(f"{SOURCE}/include/cairn")}
        self.assertEqual({name for name in names if name.startswith("include/")}, headers)
        libdir = os.path.relpath(self.libdir, self.prefix)
        for name in ["pkgconfig/cairn.pc", "cmake/cairn/cairn-config.cmake", "cmake/cairn/cairn-config-version.cmake"]:
            self.assertIn(f"{libdir}/{name}", names)
        for name in ["bin/cairn", "share/man/man1/cairn.1", "share/bash-completion/completions/cairn",
                     "share/zsh/site-functions/_cairn", "share/fish/vendor_completions.d/cairn.fish"]:  # fmt: skip
            self.assertIn(name, names)

    def test_pkg_config_requires_what_public_headers_include(self):
        included = set()
        for header in glob.glob(f"{SOURCE}/include/cairn/*.h"):
            included.update(re.findall(r'(?m)^#include "((?!cairn/).*)\.h"', read(header)))
        modules = {MODULE_OF_HEADER.get(f"{name}.h", "absl_" + os.path.basename(name)) for name in included}
        required = set(re.search(r"(?m)^Requires: (.*)$", self.pc).group(1).split(", "))
        self.assertLessEqual(modules, required)
        if self.has_shared:  # otherwise programs link all that Cairn does
            self.assertEqual(modules, required)

    def test_pkg_config_requires_no_headers_that_only_the_build_needs(self):
        for path in glob.glob(f"{self.libdir}/pkgconfig/*.pc"):
            names = re.search(r"(?m)^Requires\.private: (.*)$", read(path)).group(1)
            for module in (entry.split()[0] for entry in names.split(", ")):
                # Some of Abseil's modules are headers, and come with the others.
                libs = self.ok("pkg-config", "--libs", module).strip()
                self.assertTrue(libs or module.startswith("absl_"), f"{path}: {module}")

    def test_programs_start_without_what_takes_long_to_load(self):
        self.assertNotIn("hwy", self.pc)
        loaded = self.ok("ldd", f"{self.prefix}/bin/cairn")
        for name in ("libhwy", "libcurl", "libcrypto"):
            self.assertNotIn(name, loaded)

    def test_pkg_config_compiles_with_folders_and_definitions_only(self):
        for flag in self.ok("pkg-config", "--cflags", "cairn").split():
            self.assertRegex(flag, "^(-I.*|-D.*|-pthread)$")

    def test_pkg_config_links_the_library(self):
        self.ok("bash", "-euc", snippet("sh", 0))
        self.check_example("./example", self.has_shared)

    def test_pkg_config_links_the_library_for_c(self):
        self.require(self.has_shared, "libcairn.so")
        self.ok("bash", "-euc", snippet("sh", 1))
        self.assertEqual(self.ok("./example_in_c"), "21.25 22.00\n")

    def test_pkg_config_links_the_static_library(self):
        self.require(self.has_static, "libcairn.a")
        self.ok("bash", "-euc", snippet("sh", 2))
        self.check_example("./example", is_shared=False)

    def run_cmake(self, lists):
        self.require(shutil.which("cmake"), "cmake")
        self.write("CMakeLists.txt", lists)
        return self.ok("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_cmake_links_the_library(self):
        self.run_cmake(snippet("cmake"))
        self.ok("cmake", "--build", "build")
        self.check_example("build/example", self.has_shared)

    def test_cmake_links_the_library_for_c(self):
        self.require(self.has_shared, "libcairn.so")
        self.run_cmake(snippet("cmake").replace("CXX", "C").replace("example.cc", "example.c"))
        self.ok("cmake", "--build", "build")
        self.assertEqual(self.ok("build/example"), "21.25 22.00\n")

    def test_cmake_links_the_static_library(self):
        self.require(self.has_static, "libcairn.a")
        self.run_cmake(snippet("cmake").replace("cairn::cairn", "cairn::cairn_static"))
        self.ok("cmake", "--build", "build")
        self.check_example("build/example", is_shared=False)

    def test_cmake_finds_versions_with_the_same_minor_number_or_in_a_range(self):
        major, minor, patch = map(int, re.search(r"(?m)^Version: (.*)$", self.pc).group(1).split("."))
        this, later = f"{major}.{minor}.{patch}", f"{major}.{minor}.{patch + 1}"
        expected = {
            "": True, "0.0": False, f"{major}.{minor}": True, this: True, f"{this} EXACT": True, later: False,
            f"{major}.{minor + 1}": False, f"{major + 1}.{minor}": False,
            f"0.0.1...{this}": True, f"0.0.1...<{this}": False, f"{this}...{later}": True, f"{later}...99": False,
        }  # fmt: skip
        asks = "".join(
            f'find_package(cairn {version} QUIET)\nmessage(STATUS "[{version}]=${{cairn_FOUND}}")\nunset(cairn_DIR CACHE)\n'
            for version in expected
        )
        said = self.run_cmake(f"cmake_minimum_required(VERSION 3.19)\nproject(versions LANGUAGES CXX)\n{asks}")
        found = {version: value in ("1", "TRUE") for version, value in re.findall(r"\[(.*)\]=(\w+)", said)}
        self.assertEqual(found, expected)


class SubprojectTest(PackagingTest):
    def setUp(self):
        super().setUp()
        os.mkdir(f"{self.dir}/subprojects")
        self.write("meson.build", snippet("meson"))

    def introspect(self, what):
        return json.loads(self.ok("meson", "introspect", "build", f"--{what}"))

    def check_library_alone(self, default_library, files):
        """The example's compiler warnings are errors: also those of the headers that it includes."""
        self.ok("meson", "setup", "build", "--force-fallback-for=cairn", f"-Ddefault_library={default_library}",
                "-Dwarning_level=3", "-Dwerror=true")  # fmt: skip
        targets = self.introspect("targets")
        self.assertEqual({target["name"] for target in targets}, {"example", "cairn", "engine", "kernels"})
        built = [target["filename"][0] for target in targets if target["name"] == "cairn"]
        self.assertEqual([re.search(r"libcairn\.(so|a)", name).group() for name in built], files)
        self.assertEqual(self.introspect("tests"), [])
        dependencies = {dependency["name"] for dependency in self.introspect("dependencies")}
        self.assertFalse(dependencies & {"CLI11", "nlohmann_json", "gtest_main"})
        if os.environ.get("CAIRN_TEST_SUBPROJECT"):
            self.ok("ninja", "-C", "build")
            self.assertEqual(self.ok("build/example"), EXAMPLE_PRINTS)
        else:
            self.ok("ninja", "-C", "build", "example.p/example.cc.o")

    def test_a_checkout_is_built_without_tool_and_tests(self):
        os.symlink(SOURCE, f"{self.dir}/subprojects/cairn")
        self.check_library_alone("static", ["libcairn.a"])

    def test_the_tarball_is_built_by_a_wrap_and_by_itself(self):
        if not os.path.exists(f"{SOURCE}/.git"):
            self.skipTest("no git checkout")
        # The tarball of the last commit.
        self.ok("meson", "dist", "-C", BUILD, "--no-tests", "--allow-dirty", "--formats", "gztar")
        (tarball,) = glob.glob(f"{BUILD}/meson-dist/cairn-*.tar.gz")
        with open(tarball, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        wrap = snippet("ini").replace("URL", f"file://{os.path.dirname(tarball)}").replace("SHA256", digest)
        self.write("subprojects/cairn.wrap", wrap)
        self.check_library_alone("shared", ["libcairn.so"])
        # With all targets: sources that git does not know are missed here.
        (unpacked,) = glob.glob(f"{self.dir}/subprojects/cairn-*/")
        self.ok("meson", "setup", "whole", unpacked)


class DebianTextsTest(PackagingTest):
    """What Debian's packages say comes from files that may move."""

    def texts(self, what, argument):
        return self.ok("/usr/bin/python3", f"{SOURCE}/tools/packaging/debian_texts.py", what, SOURCE, argument)

    def test_python_package_has_its_name_and_plugins(self):
        self.texts("dist-info", self.dir)
        (package,) = importlib.metadata.distributions(name="cairn-frames", path=[self.dir])
        self.assertEqual(package.metadata["Name"], "cairn-frames")
        self.assertIn("numpy", package.requires[0])
        self.assertIn("cairn.xarray:Backend", [point.value for point in package.entry_points])

    def test_changelog_begins_with_the_version(self):
        version = self.texts("version", "0").strip()
        self.assertTrue(self.texts("changelog", "0").startswith(f"cairn ({version}) "))
