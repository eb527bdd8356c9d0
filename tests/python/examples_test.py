"""What the pages show of Python is what the package does."""

import doctest
import importlib.util
import os
import re
import unittest

from support import PackageTest, cairn, np

SOURCE = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir)

NAMES = {"cairn": cairn, "np": np}  # which the first block of a page imports


class DocsTest(PackageTest):
    def run_examples(self, *name, needs=("",)):
        with open(os.path.join(SOURCE, *name), encoding="utf-8") as file:
            found = re.findall(r"(?ms)^```python ?(\w*)\n(.*?)^```$", file.read())
        blocks = [block for kind, block in found if kind in needs]
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        test = doctest.DocTestParser().get_doctest("".join(blocks), dict(NAMES), name[-1], name[-1], 0)
        told = []
        failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
        self.assertEqual(failed, 0, "".join(told))
        self.assertGreater(tried, 5)

    def test_python_page_shows_what_happens(self):
        self.run_examples("docs", "python.md")

    @unittest.skipUnless(importlib.util.find_spec("duckdb") and importlib.util.find_spec("pyarrow"), "no duckdb or pyarrow")
    def test_python_page_works_from_top_to_bottom(self):
        self.run_examples("docs", "python.md", needs=["", "arrow"])

    @unittest.skipIf(importlib.util.find_spec("xarray") is None, "no xarray")
    def test_python_page_shows_what_happens_with_xarray(self):
        self.run_examples("docs", "python.md", needs=["xarray"])

    @unittest.skipUnless(importlib.util.find_spec("duckdb") and importlib.util.find_spec("pyarrow"), "no duckdb or pyarrow")
    def test_python_page_shows_what_happens_with_arrow(self):
        self.run_examples("docs", "python.md", needs=["arrow"])

    @unittest.skipIf(importlib.util.find_spec("fsspec") is None, "no fsspec")
    def test_python_page_shows_what_happens_with_fsspec(self):
        self.run_examples("docs", "python.md", needs=["fsspec"])

    @unittest.skipUnless(importlib.util.find_spec("zarr") and importlib.util.find_spec("xarray"), "no zarr or xarray")
    def test_collections_page_shows_what_happens(self):
        self.run_examples("docs", "collections.md", needs=["", "zarr"])

    def test_log_page_shows_what_happens(self):
        self.run_examples("docs", "log.md")

    def test_readme_shows_what_happens(self):
        self.run_examples("README.md")
