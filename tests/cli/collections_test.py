"""Collections, and the paths of their members: arguments TOOL MAKER KEEPER, programs that make and change weather.b2d."""

import json
import os
import shutil
import subprocess
import sys

import tap
from cli import CliTest


class Collections(CliTest):
    maker = None
    keeper = None

    def setUp(self):
        super().setUp()
        subprocess.run([self.maker], cwd=self.dir, check=True, stdout=subprocess.DEVNULL)

    def test_list_prints_the_names_of_a_collection_and_of_a_group(self):
        for path in ["weather.b2d", "weather.b2d/", "weather.b2d/day", self.path("weather.b2d")]:
            self.assertEqual(self.ok("list", path), b"/day/rain\n/day/temp\n")
        self.assertEqual(self.ok("list", "weather.b2d/day/rain"), b"/day/rain\n")
        self.assertEqual(json.loads(self.ok("list", "weather.b2d", "--json")), ["/day/rain", "/day/temp"])

    def test_list_of_anything_else_says_what_a_collection_is(self):
        os.mkdir(self.path("empty"))
        for path in ["empty", "nowhere"]:
            self.assertIn(f"{path}: no collection: neither a directory with a file embed.b2e nor", self.fails(1, "list", path))
        self.assertIn("weather.b2d: no group or member /night", self.fails(1, "list", "weather.b2d/night"))

    def test_info_shows_each_member(self):
        text = self.ok("info", "weather.b2d").decode()
        self.assertRegex(text, r"\Aweather\.b2d: collection of 2 members, commit \d+\n")
        self.assertRegex(text, r"(?m)^/day/temp .* 7 x 180 of <f4$")
        found = json.loads(self.ok("info", "weather.b2d/day", "--json"))
        self.assertEqual((found["path"], found["kind"]), ("weather.b2d/day", "collection"))
        self.assertEqual([(one["name"], one["shape"], one["dtype"]) for one in found["members"]],
                         [("/day/rain", [7, 180], "<f4"), ("/day/temp", [7, 180], "<f4")])  # fmt: skip
        self.assertIn("of one frame: name a member", self.fails(2, "info", "weather.b2d", "--chunks"))

    def test_metrics_are_of_the_ledger_and_of_each_member(self):
        text = self.ok("info", "--metrics", "weather.b2d").decode()
        for path in ["embed.b2e", "day/rain", "day/temp"]:
            self.assertIn(f'cairn_frame_readable{{path="weather.b2d/{path}"}} 1\n', text)

    def test_reading_commands_take_members(self):
        member, file = "weather.b2d/day/temp", "weather.b2d/day/temp.b2nd"
        for command in [["cat"], ["cat", "--csv"], ["meta", "ls"], ["meta", "get", "--raw", "--fixed"]]:
            words = [*command, member] + (["b2nd"] if "get" in command else [])
            self.assertEqual(self.ok(*words), self.ok(*[file if word == member else word for word in words]))
        self.assertEqual(json.loads(self.ok("info", member, "--json"))["array"]["shape"], [7, 180])
        self.ok("copy", member, "copy.b2nd")
        self.ok("backup", member, "backup.b2nd")
        for copy in ["copy.b2nd", "backup.b2nd"]:
            self.assertEqual(self.ok("cat", copy), self.ok("cat", member))
            self.assertEqual(os.stat(self.path(copy)).st_mode, os.stat(self.path(file)).st_mode)

    def test_verify_checks_the_ledger_and_every_member(self):
        checked = json.loads(self.ok("verify", "weather.b2d", "--json"))
        self.assertEqual([(one["path"], one["verdict"]) for one in checked],
                         [(f"weather.b2d/{name}", "ok") for name in ("embed.b2e", "day/rain", "day/temp")])  # fmt: skip
        with open(self.path("weather.b2d/day/rain.b2nd"), "r+b") as file:
            file.seek(150)
            file.write(b"\xff" * 40)
        self.assertIn("1 of 3 frames failed the check", self.fails(1, "verify", "weather.b2d"))

    def test_verify_tells_members_that_are_newer_than_the_ledger(self):
        shutil.copy(self.path("weather.b2d/embed.b2e"), self.path("older"))
        subprocess.run([self.keeper], cwd=self.dir, check=True)
        shutil.copy(self.path("older"), self.path("weather.b2d/embed.b2e"))
        done = self.run_tool("verify", "weather.b2d")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"weather.b2d/day/temp: DAMAGED: 1 finding", done.stdout)
        self.assertIn(b"ledger: member: is ahead of the ledger", done.stdout)
        self.assertIn(b"weather.b2d/day/rain: ok", done.stdout)

    def test_backup_copies_a_collection_as_one_state(self):
        self.assertRegex(self.ok("backup", "weather.b2d", "copy.b2d").decode(), r"\Acopy\.b2d: commit \d+, 2 members\n\Z")
        self.ok("verify", "copy.b2d")
        self.assertEqual(self.ok("cat", "copy.b2d/day/temp"), self.ok("cat", "weather.b2d/day/temp"))
        self.assertIn("copy.b2d", self.fails(1, "backup", "weather.b2d", "copy.b2d"))
        self.assertEqual(json.loads(self.ok("backup", "weather.b2d", "other.b2d", "--json"))["members"], 2)
        self.assertIn("of frames", self.fails(2, "backup", "weather.b2d", "new.b2d", "--force"))
        self.assertIn("as a whole", self.fails(1, "backup", "weather.b2d/day", "new.b2d"))

    def test_increments_bring_a_copy_up_to_date(self):
        self.ok("backup", "weather.b2d", "copy.b2d")
        self.ok("backup", "weather.b2d", "none.b2z", "--since-copy", "copy.b2d")
        self.assertIn("has the content of the last increment already", self.ok("restore", "copy.b2d", "none.b2z").decode())
        os.remove(self.path("copy.b2d/day/temp.b2nd"))
        self.ok("recover", "copy.b2d")  # it has one member
        self.assertIn("increment: made for", self.fails(1, "restore", "copy.b2d", "none.b2z"))
        told = self.ok("backup", "weather.b2d", "monday.b2z", "--since-copy", "copy.b2d").decode()
        self.assertRegex(told, r"\Amonday\.b2z: changes from commit \d+ to \d+\n\Z")
        self.assertRegex(self.ok("restore", "copy.b2d", "monday.b2z").decode(),
                         r"\Acopy\.b2d: 1 increment applied; it has the content of commit \d+ of its source\n\Z")  # fmt: skip
        for member in ["day/rain", "day/temp"]:
            self.assertEqual(self.ok("cat", f"copy.b2d/{member}"), self.ok("cat", f"weather.b2d/{member}"))
        self.assertEqual(json.loads(self.ok("restore", "copy.b2d", "none.b2z", "monday.b2z", "--json")), {"applied": 0, "skipped": 2})
        self.assertIn("monday.b2z exists", self.fails(1, "backup", "weather.b2d", "monday.b2z", "--since-copy", "copy.b2d"))
        self.assertIn("not an increment", self.fails(1, "restore", "copy.b2d", "weather.b2d"))

    def test_member_whose_file_is_gone_is_told_and_others_are_read(self):
        os.remove(self.path("weather.b2d/day/rain.b2nd"))
        told = "weather.b2d/day/rain.b2nd: member: the file is missing; other members are read all the same"
        self.assertIn(told, self.fails(1, "cat", "weather.b2d/day/rain"))
        self.ok("cat", "weather.b2d/day/temp")
        for command in ["info", "verify"]:
            done = self.run_tool(command, "weather.b2d")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout.decode(), r"(?m)^\S*/day/rain\b.*rain\.b2nd: member: the file is missing")
            self.assertRegex(done.stdout.decode(), r"(?m)^\S*/day/temp\b.*KiB")
        self.assertIn("1 of 2 members cannot be read; see `cairn verify`", self.fails(1, "info", "weather.b2d"))
        found = json.loads(self.run_tool("info", "weather.b2d", "--json").stdout)["members"]
        self.assertEqual((found[0]["code"], "shape" in found[1]), ("DATA_LOSS", True))

    def test_names_that_no_member_has_are_told_with_the_nearest(self):
        self.assertEqual(self.fails(1, "cat", "weather.b2d/day/tmp"),
                         "cairn: weather.b2d: no member /day/tmp (did you mean '/day/temp'?); 'cairn list weather.b2d' lists them")  # fmt: skip
        for path, what in [("weather.b2d", "a collection"), ("weather.b2d/day", "a group of a collection")]:
            self.assertIn(f"{path}: {what}: name one of its members; 'cairn list weather.b2d'", self.fails(1, "cat", path))

    def test_states_of_one_frame_are_refused(self):
        for option in [["--durable"], ["--offset", 8]]:
            self.assertIn("leave out --durable", self.fails(2, "cat", "weather.b2d/day/temp", *option))

    def test_commits_that_are_kept_are_listed_and_read(self):
        older = self.ok("cat", "weather.b2d/day/temp")
        subprocess.run([self.keeper], cwd=self.dir, check=True)
        found = json.loads(self.ok("history", "weather.b2d", "--json"))
        first = found[0]["generation"]
        unchanged = {"added": [], "removed": [], "changed": [], "attributes": []}
        self.assertEqual(found, [
            {**unchanged, "generation": first},
            {**unchanged, "generation": first + 1, "changed": ["/day/temp"]},
            {**unchanged, "generation": first + 2, "removed": ["/day/rain"], "changed": ["/day/temp"]},
            {**unchanged, "generation": first + 3, "attributes": ["/day"]}])  # fmt: skip
        lines = self.ok("history", "weather.b2d").decode().splitlines()
        self.assertRegex(lines[0], r"^ +commit +added +removed +changed +attributes$")
        self.assertRegex(lines[3], rf"^ +{first + 2} +0 +1 +1 +0$")
        page = json.loads(self.ok("history", "weather.b2d", "--json", "--before", first + 3, "--limit", 2))
        self.assertEqual(page, found[1:3])
        self.assertEqual(self.ok("list", "weather.b2d"), b"/day/temp\n")
        self.assertEqual(self.ok("list", "weather.b2d", "--generation", first), b"/day/rain\n/day/temp\n")
        self.assertEqual(self.ok("cat", "weather.b2d/day/temp", "--generation", first), older)
        self.assertTrue(self.ok("cat", "weather.b2d/day/temp").startswith(older + self.ok("cat", "weather.b2d/day/temp", "--box", "7:8,0:180")))
        self.assertEqual(len(json.loads(self.ok("info", "weather.b2d", "--json", "--generation", first))["members"]), 2)
        told = self.ok("backup", "weather.b2d", "new.inc", "--since", first).decode()
        self.assertIn(f"changes from commit {first} to {first + 3}", told)
        told = json.loads(self.ok("backup", "weather.b2d", "again.inc", "--since", first, "--json"))
        self.assertEqual(told, {"number": first + 3, "since": first, "members": 1})
        for command in [["list", "weather.b2d", "--generation", 99], ["backup", "weather.b2d", "other", "--since", 99],
                        ["cat", "weather.b2d/day/temp", "--generation", 99]]:  # fmt: skip
            self.assertIn("commit 99 is not kept", self.fails(1, *command))
        self.assertIn("of frames", self.fails(2, "history", "weather.b2d", "--offset", 8))

    def test_commands_that_change_frames_refuse_members(self):
        before = self.read("weather.b2d/day/temp.b2nd")
        member = "weather.b2d/day/temp"
        for command in [["append", member, "-"], ["resize", member, "8,180"], ["meta", "set", member, "x", "-"],
                        ["meta", "rm", member, "x"], ["reclaim", member], ["history", member],
                        ["cat", "--follow", member], ["append", "weather.b2d", "-"]]:  # fmt: skip
            self.assertRegex(self.fails(1, *command), r"weather\.b2d\S*: (a member of the collection|a collection)")
        self.assertEqual(self.read("weather.b2d/day/temp.b2nd"), before)

    def test_members_are_compacted(self):
        before = [self.run_tool("cat", f"weather.b2d/day/{name}").stdout for name in ("temp", "rain")]
        self.assertRegex(self.run_tool("compact", "weather.b2d/day/temp").stdout.decode(), r"^weather.b2d/day/temp: .* before, .* now\n$")
        sizes = json.loads(self.run_tool("compact", "weather.b2d", "--json").stdout)
        self.assertLessEqual(sizes["size_after"], sizes["size_before"])
        self.assertEqual([self.run_tool("cat", f"weather.b2d/day/{name}").stdout for name in ("temp", "rain")], before)
        self.assertEqual([name for name in os.listdir(self.path("weather.b2d/day")) if name.startswith(".cairn")], [])
        self.run_tool("verify", "weather.b2d")
        self.assertIn("/day/x: no member", self.fails(1, "compact", "weather.b2d/day/x"))

    def test_damaged_ledger_and_stores_of_others_are_told(self):
        shutil.copytree(self.path("weather.b2d"), self.path("tree"))
        self.pack(b"data", name="other")
        shutil.copy(self.path("other"), self.path("tree/embed.b2e"))
        # Without the ledger it is a store of others, which is read.
        self.assertEqual(self.ok("list", "tree"), self.ok("list", "weather.b2d"))
        self.assertEqual(self.ok("cat", "tree/day/temp"), self.ok("cat", "weather.b2d/day/temp"))
        self.write("weather.b2d/embed.b2e", self.read("weather.b2d/embed.b2e")[:100])
        for words in [["list", "weather.b2d"], ["info", "weather.b2d"], ["cat", "weather.b2d/day/temp"]]:
            self.assertIn("weather.b2d/embed.b2e", self.fails(1, *words))
        self.assertIn("1 of 1 frame failed the check", self.fails(1, "verify", "weather.b2d"))

    def test_recover_makes_the_members_and_the_ledger_agree(self):
        self.assertIn(b"nothing to recover", self.ok("recover", "weather.b2d"))
        temp = self.ok("cat", "weather.b2d/day/temp")
        os.remove(self.path("weather.b2d/embed.b2e"))
        self.assertIn("--dry-run", self.fails(2, "recover", "weather.b2d", "--dry-run"))
        text = self.ok("recover", "weather.b2d").decode()
        self.assertEqual(text, "weather.b2d: recovered, with a new ledger\n  listed as it is: /day/rain\n  listed as it is: /day/temp\n")
        self.assertEqual(self.ok("cat", "weather.b2d/day/temp"), temp)
        self.write("weather.b2d/day/rain.b2nd", b"no frame")
        done = self.run_tool("recover", "weather.b2d", "--json")
        self.assertEqual((done.returncode, done.stderr), (1, b"cairn: weather.b2d: 1 member cannot be read\n"))
        found = json.loads(done.stdout)
        self.assertEqual([found[key] for key in ("kind", "ledger_lost", "adopted", "missing")], ["collection", False, [], []])
        self.assertIn("not a Blosc2 frame", found["unreadable"][0])
        os.mkdir(self.path("empty"))
        self.assertIn("is not a Blosc2 frame", self.fails(1, "recover", "empty"))

    def test_a_packed_collection_is_read_and_unpacked(self):
        self.ok("backup", "weather.b2d", "weather.b2z")
        names = self.ok("list", "weather.b2d")
        self.assertEqual(self.ok("list", "weather.b2z"), names)
        self.assertEqual(self.ok("cat", "weather.b2z/day/temp"), self.ok("cat", "weather.b2d/day/temp"))
        self.assertIn(b"7 x 180 of <f4", self.ok("info", "weather.b2z"))
        self.assertIn(b"weather.b2z: ok, sealed", self.ok("verify", "weather.b2z"))
        self.ok("copy", "weather.b2z/day/rain", "rain.b2nd", "--quiet")
        self.assertEqual(self.ok("cat", "rain.b2nd"), self.ok("cat", "weather.b2d/day/rain"))
        self.assertIn("weather.b2z exists", self.fails(1, "backup", "weather.b2d", "weather.b2z"))
        self.assertIn("no member /day/wind", self.fails(1, "cat", "weather.b2z/day/wind"))
        self.assertIn("name one of its members", self.fails(1, "cat", "weather.b2z"))
        self.ok("backup", "weather.b2z", "again.b2d")
        self.assertEqual(self.ok("list", "again.b2d"), names)
        whole = self.read("weather.b2z")
        self.write("weather.b2z", whole[: len(whole) // 2])
        self.assertIn("the file may have been cut", self.fails(1, "list", "weather.b2z"))


if __name__ == "__main__":
    CliTest.tool, Collections.maker, Collections.keeper = map(os.path.abspath, sys.argv[1:4])
    tap.main(__name__)
