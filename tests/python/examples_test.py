"""What the pages show of Python is what the package does."""

import doctest
import os
import re

from support import PackageTest

SOURCE = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir)


class DocsTest(PackageTest):
    def run_examples(self, *name):
        with open(os.path.join(SOURCE, *name), encoding="utf-8") as file:
            blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", file.read())
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        test = doctest.DocTestParser().get_doctest("".join(blocks), {}, name[-1], name[-1], 0)
        told = []
        failed, tried = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
        self.assertEqual(failed, 0, "".join(told))
        self.assertGreater(tried, 5)

    def test_python_page_shows_what_happens(self):
        self.run_examples("docs", "python.md")

    def test_log_page_shows_what_happens(self):
        self.run_examples("docs", "log.md")

    def test_readme_shows_what_happens(self):
        self.run_examples("README.md")
