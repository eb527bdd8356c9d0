"""The documents show what the code does: arguments TOOL EXAMPLE C_EXAMPLE SOURCE_ROOT [MAKER].

MAKER is a program that makes the collection weather.b2d.
"""

import json
import os
import re
import subprocess
import sys

import tap
from cli import CliTest, sample

COMMANDS = [
    "pack", "copy", "append", "cat", "info", "list", "verify", "chunk insert", "chunk update", "chunk delete",
    "chunk reorder", "resize", "meta ls", "meta get", "meta set", "meta rm", "history", "backup", "restore", "reclaim", "compact", "recover",
    "encode", "decode", "log create", "log append", "log import", "log query", "log agg", "log tail", "log follow",
    "log stat", "log retain", "log delete", "log add-field", "log latest",
]  # fmt: skip
# In the manual's lines that show what a command looks like, rather than a use of it.
PLACEHOLDER = re.compile(r"\b(COMMAND|FRAME|LOG|OUT|FILE|CHUNK_FILE|INCREMENT)\b|\[OPTIONS\]")

# What the examples use of jq, which need not be installed.
JQ = rb"""#!/usr/bin/env python3
import json, re, sys
value = json.load(sys.stdin)
for key in re.findall(r"\w+", sys.argv[1]):
    value = value[int(key) if key.isdigit() else key]
print(json.dumps(value))
"""


class Docs(CliTest):
    example = None
    c_example = None
    root = None
    maker = None

    def source(self, name):
        with open(os.path.join(self.root, name), encoding="utf-8") as file:
            return file.read()

    def test_the_examples_of_the_documents_are_those_that_are_compiled(self):
        for language, name, document in [("cpp", "docs/examples/example.cc", "README.md"), ("c", "docs/examples/example.c", "docs/c-api.md")]:
            self.assertIn(f"```{language}\n" + self.source(name) + "```\n", self.source(document))

    def check_example(self, program, document):
        done = subprocess.run([program], cwd=self.dir, capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("prints `" + done.stdout.decode().strip() + "`", self.source(document))
        self.ok("verify", *self.files())

    def test_the_example_runs(self):
        self.check_example(self.example, "README.md")

    def test_the_example_in_c_runs(self):
        self.check_example(self.c_example, "docs/c-api.md")

    def test_the_readme_names_the_two_scripts_on_its_first_screen(self):
        first_screen = "".join(self.source("README.md").splitlines(True)[:40])
        for script in ["tools/demo.sh", "tools/test.sh"]:
            self.assertIn(script, first_screen)
            self.assertTrue(os.access(os.path.join(self.root, script), os.X_OK))

    def test_the_manual_has_every_option_of_every_command_and_no_other(self):
        manual = self.source("docs/cli.md")
        for command in COMMANDS:
            with self.subTest(command=command):
                section = re.search(rf"(?ms)^## cairn {command}\n(.*?)(?=^## |\Z)", manual).group(1)
                if "compression options" in section:
                    section += re.search(r"(?ms)^## Compression options\n(.*?)(?=^## |\Z)", manual).group(1)
                documented = set(re.findall(r"(?m)^\| `(--[a-z-]+)", section))
                shown = set(re.findall(r"(?m)^  (--[a-z-]+)", self.ok(*command.split(), "--help").decode()))
                self.assertEqual(documented, shown - {"--help"})

    def examples_of_the_readme(self):
        blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", self.source("README.md"))
        lines = [line for block in blocks for line in block.splitlines()]
        return [line for line in lines if re.search(r"^(cairn|sensor|printf) ", line)]

    def examples(self):
        lines = re.findall(r"(?m)^    (\S.*)$", self.source("docs/cli.md"))
        commands = [line for line in lines if re.search(r"^(cairn|tar|sensor|printf) ", line)]
        return [line for line in commands if not PLACEHOLDER.search(line)]

    def use_programs(self, programs):
        os.mkdir(self.path("bin"))
        os.symlink(self.tool, self.path("bin/cairn"))
        for name, script in programs.items():
            os.chmod(self.path(self.write(os.path.join("bin", name), script)), 0o755)

    def run_script(self, script):
        """Which has to succeed; gives its standard output."""
        path = os.pathsep.join([self.path("bin"), os.environ["PATH"]])
        done = subprocess.run(["bash", "-o", "pipefail", "-xc", "set -eu\n" + script], cwd=self.dir, timeout=600,
                              check=False, capture_output=True, env={**os.environ, "PATH": path})  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def run_examples(self, examples):
        """One after the other, beside what they need."""
        self.use_programs({"sensor": b"#!/bin/sh\ncat day0.f32\n", "plot": b"#!/bin/sh\nhead -c 400 >plotted\n", "jq": JQ})
        self.write("day0.f32", sample(1 << 16) * 16)
        self.write("temps.f32", self.read("day0.f32") * 20)
        self.run_script("".join(f"{line}\n" for line in examples))
        self.assertEqual(self.read("ten.f32"), self.read("temps.f32")[4000:4040])

    def test_the_examples_of_the_readme_run_one_after_the_other(self):
        self.write("more.f32", sample(8000))
        examples = self.examples_of_the_readme()
        self.assertGreaterEqual(len(examples), 12)
        self.run_examples(examples)

    def test_the_examples_of_the_manual_run_one_after_the_other(self):
        self.write("raw", sample(8000))
        os.mkdir(self.path("photos"))
        self.write("photos/1.raw", sample(50_000))
        self.write("grid.f32", sample(40_000) * 100)
        self.write("rows.f32", sample(8000))
        examples = self.examples()
        self.assertGreater(len(examples), 25)
        if self.maker is None:  # a big-endian host
            examples = [line for line in examples if "weather.b2d" not in line]
        else:
            subprocess.run([self.maker], cwd=self.dir, check=True, stdout=subprocess.DEVNULL)
        self.run_examples(examples)

    def test_the_examples_of_the_page_of_logs_run_one_after_the_other(self):
        blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", self.source("docs/log.md"))
        self.assertGreaterEqual(len(blocks), 7)
        times = [f"2026-11-24T{i // 60:02}:{i % 60:02}:30Z" for i in range(600, 660)]
        rows = [f"{time},{20 + i / 50},{5 - i / 9},hall" for i, time in enumerate(times)]
        self.write("readings", "\n".join(["time,inside,outside,room", *rows, "starting up"]).encode())
        self.use_programs({"sensor": b"#!/bin/sh\ncat readings\n"})
        shown = self.run_script("".join(blocks))
        self.assertIn(b"60 records appended, 1 bad line skipped", shown)
        self.assertIn(b"2026-11-24T10:59:30.000Z,21.18,", shown)
        self.assertIn(b"mean(inside)", shown)
        self.assertIn(b"61 records", shown)
        self.assertIn(b"inside (\xc2\xb0C)", self.read("climate.svg"))
        self.assertIn(b"<script>", self.read("climate.html"))

    def test_the_examples_of_the_page_for_operators_run_one_after_the_other(self):
        blocks = re.findall(r"(?ms)^```sh\n(.*?)^```$", self.source("docs/operating.md"))
        self.assertGreaterEqual(len(blocks), 4)
        data, day = sample(8000), sample(4000)
        for folder in ["data", "metrics", "copies"]:
            os.mkdir(self.path(folder))
        self.pack(data, name="data/temps.b2frame")
        self.write("day0.f32", day)
        self.ok("log", "create", "climate.b2frame", "--field", "time:timestamp[s]", "--field", "temp:f4")
        self.ok("log", "append", "climate.b2frame", stdin=b"time,temp\n2026-11-24T10:00:00Z,20.5\n")
        self.ok("log", "create", "rooms", "--field", "time:timestamp[s]", "--field", "temp:f4", "--rotate-every", "1d")
        self.ok("log", "append", "rooms", stdin=b"time,temp\n2026-11-23T10:00:00Z,20\n2026-11-24T10:00:00Z,21\n")
        self.use_programs({})
        shown = self.run_script("".join(blocks))
        self.assertNotIn(b"damage", shown)
        self.assertEqual(self.ok("cat", "copies/temps.b2frame"), data + day)
        self.assertEqual(self.ok("log", "query", "copies/rooms"), self.ok("log", "query", "rooms"))
        self.assertIn(b'cairn_frame_readable{path="data/temps.b2frame"} 1\n', self.read("metrics/cairn.prom"))
        log = self.read("metrics/climate.prom")
        self.assertIn(b'cairn_log_newest_time_seconds{path="climate.b2frame"} 1795514400\n', log)
        self.assertIn(b'cairn_log_last_value{path="climate.b2frame",field="temp"} 20.5\n', log)
        # Each metric that the page names is printed, and the other way round.
        printed = re.findall(rb"(?m)^# TYPE (\w+) ", self.read("metrics/cairn.prom") + log)
        named = re.findall(r"`(cairn_\w+)`", self.source("docs/operating.md"))
        rare = {"cairn_frame_old_reader_seconds", "cairn_store_requests", "cairn_store_retries", "cairn_store_read_bytes"}
        quiet = {"cairn_frame_sealed"}
        self.assertEqual({name.decode() for name in printed} - quiet, set(named) - rare)

    def test_the_index_names_every_document(self):
        index = self.source("docs/README.md")
        folder = os.path.join(self.root, "docs")
        for name in sorted(os.listdir(folder) + [f"performance/{name}" for name in os.listdir(f"{folder}/performance")]):
            if name.endswith(".md") and name != "README.md":
                self.assertRegex(index, rf"\]\({re.escape(name)}[)#]")
        for name in os.listdir(f"{folder}/examples"):
            self.assertIn(f"](examples/{name})", index)

    def anchors(self, document):
        """Those that the headings of a document get."""
        headings = re.findall(r"(?m)^#+ (.*)$", re.sub(r"(?ms)^```.*?^```$", "", self.source(document)))
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    def test_links_lead_somewhere(self):
        names = [*os.listdir(self.root), *(f"docs/{name}" for name in os.listdir(os.path.join(self.root, "docs")))]
        documents = [name for name in names if name.endswith(".md")]
        self.assertGreater(len(documents), 15)
        for document in documents:
            for link in re.findall(r"\]\(([^)\s]+)\)", self.source(document)):
                if re.match(r"[a-z]+:", link):
                    continue
                with self.subTest(document=document, link=link):
                    name, _, anchor = link.partition("#")
                    target = os.path.normpath(os.path.join(os.path.dirname(document), name)) if name else document
                    self.assertTrue(os.path.exists(os.path.join(self.root, target)))
                    if anchor:
                        self.assertIn(anchor, self.anchors(target))

    def test_the_manual_lists_the_json_keys(self):
        manual = self.source("docs/cli.md")
        info = self.info(self.pack(b"data"), "--chunks")
        state = json.loads(self.ok("history", "f.b2frame", "--json"))[0]
        verified = json.loads(self.run_tool("verify", "--json", "f.b2frame", "nofile").stdout)
        recovered = json.loads(self.ok("recover", "f.b2frame", "--json"))
        saved = json.loads(self.ok("recover", "--salvage", "f.b2frame", "saved", "--json"))
        self.ok("log", "create", "log", "--field", "time:timestamp[s]", "--field", "x:f4", "--quiet")
        self.ok("log", "append", "log", "--quiet", stdin=b"time,x\n5,6\n")
        stat = json.loads(self.ok("log", "stat", "log", "--json"))
        for key in [*stat, *info, *info["chunks"][0], *state, *verified[0], *verified[1], *recovered, *saved]:
            self.assertRegex(manual, rf"(?m)^\| `{key}`")


if __name__ == "__main__":
    CliTest.tool, Docs.example, Docs.c_example, Docs.root = map(os.path.abspath, sys.argv[1:5])
    Docs.maker = os.path.abspath(sys.argv[5]) if len(sys.argv) > 5 else None
    tap.main(__name__)
