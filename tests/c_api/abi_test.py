"""The binary interface of the C API is what the headers declare, the maps list and the manual documents.

Arguments: SOURCE_ROOT LIBRARY... -- CC... -- CXX..., shared or static libraries and the compilers.
"""

import os
import re
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "cli"))
import tap  # noqa: E402

STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


# The library of each header, and the map of what it exports.
LIBRARIES = {
    "cairn.h": ("libcairn", "engine/c_api/symbols.map"),
    "cairn_log.h": ("libcairn", "engine/c_api/symbols.map"),
    "cairn_s3.h": ("libcairn_s3", "engine/object/s3/symbols.map"),
}
SYSTEM_HEADERS = ["stdbool.h", "stddef.h", "stdint.h"]


class AbiTest(unittest.TestCase):
    root = ""
    libraries = cc = cxx = ()

    def source(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def parts(self, name):
        """The header, and the parts that it includes."""
        return [name, *re.findall(r'#include "cairn/(c_\w+\.h)"', self.source(f"include/cairn/{name}"))]

    def headers(self):
        return [part for name in LIBRARIES for part in self.parts(name)]

    def header(self, *names):
        """One or some of them with their parts, or all, without comments."""
        sources = [self.source(f"include/cairn/{part}") for name in names or LIBRARIES for part in self.parts(name)]
        return re.sub(r"//.*", "", "".join(sources))

    def declared(self, *names):
        return set(re.findall(r"(?<!\*)\b(cairn_\w+)\(", self.header(*names)))

    def declarations(self):
        """Functions, structs and types of callbacks, each on one line, and enumerators with their values."""
        functions = re.findall(r"(?m)^CAIRN_EXPORT ([^;]+);", self.header())
        types = re.findall(r"typedef (struct \w+ \{.*?\} \w+|[\w ]+ \w+|\w+ \(\*[^;]*);", self.header(), re.DOTALL)
        enumerators = [f"{name} = {value}" for name, value in re.findall(r"\b(CAIRN_\w+) = (-?\d+)", self.header())]
        return sorted(" ".join(one.split()) for one in functions + types + enumerators)

    def versions(self, path):
        """Symbols of the map, each with its version."""
        nodes = re.findall(r"(CAIRN_[\w.]+) \{(.*?)\}", self.source(path), re.DOTALL)
        return {name: node for node, body in nodes for name in re.findall(r"(\w+);", body)}

    def compile(self, compiler, language, standard, code):
        command = [*compiler, "-x", language, f"-std={standard}", *STRICT, f"-I{self.root}/include", "-"]
        done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_header_alone_compiles_as_c99_and_later(self):
        for standard in ["c99", "c11", "c17"]:
            for name in self.headers():
                self.compile(self.cc, "c", standard, f'#include "cairn/{name}"\n')

    def test_each_header_alone_compiles_as_cpp(self):
        for standard in ["c++11", "c++20"]:
            for name in self.headers():
                self.compile(self.cxx, "c++", standard, f'#include "cairn/{name}"\n')

    def test_headers_include_c_headers_only(self):
        included = set(re.findall(r'#include [<"](.*)[>"]', self.header()))
        parts = {f"cairn/{name}" for name in self.headers() if name.startswith("c_")}
        self.assertEqual(included - parts, {*SYSTEM_HEADERS, "cairn/version.h", "cairn/cairn.h"})

    def test_the_headers_include_all_parts(self):
        folder = os.path.join(self.root, "include", "cairn")
        parts = sorted(name for name in os.listdir(folder) if name.startswith("c_"))
        self.assertEqual(sorted(part for name in LIBRARIES for part in self.parts(name)[1:]), parts)

    def test_options_have_an_initialiser_that_compiles(self):
        options = re.findall(r"\} (cairn_\w+_options);", self.header())
        self.assertGreater(len(options), 5)
        code = "".join(f'#include "cairn/{name}"\n' for name in LIBRARIES)
        for name in options:
            code += f"{name} make_{name}(void);\n{name} make_{name}(void) {{\n"
            code += f"  {name} made = {name.upper()}_INIT;\n  return made;\n}}\n"
        self.compile(self.cc, "c", "c99", code)
        self.compile(self.cxx, "c++", "c++20", code)

    def test_structs_that_grow_begin_with_their_size(self):
        bodies = re.findall(r"typedef struct (cairn_\w+) \{\s*(.*?);", self.header(), re.DOTALL)
        others = {name for name, first in bodies if first != "size_t struct_size"}
        self.assertEqual(others, {"cairn_status", "cairn_field", "cairn_filter_stage", "cairn_metalayer", "cairn_span"})

    def test_each_map_lists_what_its_header_declares(self):
        for path in {path for _, path in LIBRARIES.values()}:
            names = [name for name, (_, its_map) in LIBRARIES.items() if its_map == path]
            self.assertEqual(set(self.versions(path)), self.declared(*names))

    def test_each_library_exports_what_its_map_lists(self):
        maps = dict(LIBRARIES.values())
        found = {os.path.basename(one).split(".so")[0]: one for one in self.libraries if ".so" in os.path.basename(one)}
        if not found:
            self.skipTest("no shared library")
        for name, library in found.items():
            done = subprocess.run(["readelf", "-W", "--dyn-syms", library], capture_output=True, text=True, check=True)
            exported = dict(re.findall(r"(?m)FUNC +GLOBAL +DEFAULT +\d+ (cairn_\w+)@@(\S+)", done.stdout))
            self.assertEqual(exported, self.versions(maps[name]))

    def test_types_and_values_are_those_that_programs_were_compiled_with(self):
        # The list grows, also by fields at the end of structs: any other change breaks programs.
        self.maxDiff = None
        listed = self.source("tests/c_api/declarations.txt").splitlines()
        self.assertEqual(self.declarations(), listed)

    def test_the_manual_documents_every_function_and_no_other(self):
        manual = self.source("docs/c-api.md")
        named = set(re.findall(r"`(cairn_\w+)`", manual))
        types = set(re.findall(r"\} (cairn_\w+);|typedef struct (cairn_\w+) cairn|typedef \w+ (cairn_\w+);", self.header()))
        self.assertEqual(named - {name for group in types for name in group}, self.declared())


if __name__ == "__main__":
    first = sys.argv.index("--")
    second = sys.argv.index("--", first + 1)
    AbiTest.root, *AbiTest.libraries = map(os.path.abspath, sys.argv[1:first])
    AbiTest.cc, AbiTest.cxx = sys.argv[first + 1 : second], sys.argv[second + 1 :]
    tap.main(__name__)
