"""The binary interface of the C API is what the header declares, the map lists and the manual documents.

Arguments: LIBRARY SOURCE_ROOT CC... -- CXX..., a shared or static library and the compilers.
"""

import os
import re
import subprocess
import sys
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "cli"))
import tap  # noqa: E402

STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


class AbiTest(unittest.TestCase):
    library = root = ""
    cc = cxx = ()

    def source(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def header(self):
        return re.sub(r"//.*", "", self.source("include/cairn/cairn.h"))

    def declared(self):
        return set(re.findall(r"(?<!\*)\b(cairn_\w+)\(", self.header()))

    def declarations(self):
        """Functions, structs and types of callbacks, each on one line, and enumerators with their values."""
        functions = re.findall(r"(?m)^CAIRN_EXPORT ([^;]+);", self.header())
        types = re.findall(r"typedef (struct \w+ \{.*?\} \w+|[\w ]+ \w+|\w+ \(\*[^;]*);", self.header(), re.DOTALL)
        enumerators = [f"{name} = {value}" for name, value in re.findall(r"\b(CAIRN_\w+) = (-?\d+)", self.header())]
        return sorted(" ".join(one.split()) for one in functions + types + enumerators)

    def versions(self):
        """Symbols of the map, each with its version."""
        nodes = re.findall(r"(CAIRN_[\d.]+) \{(.*?)\}", self.source("engine/c_api/symbols.map"), re.DOTALL)
        return {name: node for node, body in nodes for name in re.findall(r"(\w+);", body)}

    def compile(self, compiler, language, standard, code):
        command = [*compiler, "-x", language, f"-std={standard}", *STRICT, f"-I{self.root}/include", "-"]
        done = subprocess.run(command, input=code, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_header_alone_compiles_as_c99_and_later(self):
        for standard in ["c99", "c11", "c17"]:
            self.compile(self.cc, "c", standard, '#include "cairn/cairn.h"\n')

    def test_the_header_alone_compiles_as_cpp(self):
        for standard in ["c++11", "c++20"]:
            self.compile(self.cxx, "c++", standard, '#include "cairn/cairn.h"\n')

    def test_the_header_includes_c_headers_only(self):
        included = re.findall(r'#include [<"](.*)[>"]', self.source("include/cairn/cairn.h"))
        self.assertEqual(included, ["stdbool.h", "stddef.h", "stdint.h", "cairn/version.h"])

    def test_options_have_an_initialiser_that_compiles(self):
        options = re.findall(r"\} (cairn_\w+_options);", self.header())
        self.assertGreater(len(options), 5)
        code = '#include "cairn/cairn.h"\n'
        for name in options:
            code += f"{name} make_{name}(void);\n{name} make_{name}(void) {{\n"
            code += f"  {name} made = {name.upper()}_INIT;\n  return made;\n}}\n"
        self.compile(self.cc, "c", "c99", code)
        self.compile(self.cxx, "c++", "c++20", code)

    def test_structs_that_grow_begin_with_their_size(self):
        bodies = re.findall(r"typedef struct (cairn_\w+) \{\s*(.*?);", self.header(), re.DOTALL)
        others = {name for name, first in bodies if first != "size_t struct_size"}
        self.assertEqual(others, {"cairn_status", "cairn_field", "cairn_filter_stage", "cairn_metalayer", "cairn_span"})

    def test_the_map_lists_what_the_header_declares(self):
        self.assertEqual(set(self.versions()), self.declared())

    def test_the_library_exports_what_the_map_lists(self):
        if ".so" not in os.path.basename(self.library):
            self.skipTest("no shared library")
        done = subprocess.run(["readelf", "-W", "--dyn-syms", self.library], capture_output=True, text=True, check=True)
        exported = dict(re.findall(r"(?m)FUNC +GLOBAL +DEFAULT +\d+ (cairn_\w+)@@(\S+)", done.stdout))
        self.assertEqual(exported, self.versions())

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
    AbiTest.library, AbiTest.root = map(os.path.abspath, sys.argv[1:3])
    middle = sys.argv.index("--")
    AbiTest.cc, AbiTest.cxx = sys.argv[3:middle], sys.argv[middle + 1 :]
    tap.main(__name__)
