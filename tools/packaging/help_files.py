"""Writes the man page of the tool and its completions for bash, zsh and fish from what its --help says.

    help_files.py TOOL VERSION cairn.1 cairn.bash _cairn cairn.fish

Words that an option takes are in no help: the tool tells them when it refuses another one.
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

COLUMN = 26  # where the help begins descriptions, in bytes
AFTER_COMMANDS = [
    ("EXIT STATUS", [
        ("0", "Success, also if the reader of standard output ends early."),
        ("1", "Damage or failure."),
        ("2", "Wrong usage, or an input that does not fit."),
    ]),
    ("ENVIRONMENT", [
        ("AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL",
         "Keys, region and address of an object store, as for every client of S3."),
        ("CAIRN_CONNECT_TIMEOUT, CAIRN_CALL_TIMEOUT",
         "Seconds that a connection to an object store [10] and all tries of a call [60] may take."),
    ]),
]  # fmt: skip
SEE_ALSO = ["The documents of Cairn: cli.md has every command and option, operating.md what to watch and what",
            "to do after a failure.", "Debian has them in /usr/share/doc/libcairn-dev."]  # fmt: skip
SECTIONS = ("Positionals", "Options", "Subcommands")


@dataclass
class Item:
    """A row of a section: an option, an argument or a command."""

    names: list  # as people type them, the long one last
    value: str  # the form of an option's value, empty without one
    text: str
    words: list = field(default_factory=list)  # what the value may be, if that is a list of words

    @property
    def name(self):
        return self.names[-1]

    @property
    def summary(self):
        return re.sub(r" \[[^\]]*\]$", "", self.text).split("; ")[0]


@dataclass
class Command:
    path: tuple  # ("log", "query")
    text: str
    usage: str
    sections: dict
    footer: list  # lines
    commands: list = field(default_factory=list)

    @property
    def options(self):
        return self.sections["Options"]

    def walk(self):
        yield self
        for command in self.commands:
            yield from command.walk()


class Reader:
    def __init__(self, tool):
        self.tool = os.path.abspath(tool)

    def run(self, *args):
        """In an empty directory and without input, so that no command does anything."""
        with tempfile.TemporaryDirectory() as empty:
            return subprocess.run([self.tool, *args], stdin=subprocess.DEVNULL, cwd=empty, capture_output=True, check=False)

    def words_of(self, path, option):
        refused = self.run(*path, f"{option}=?").stderr.decode()
        found = re.search(r"\? not in \{([^}]*)\}", refused)
        return found.group(1).split(",") if found else []

    def read(self, path=()):
        helped = self.run(*path, "--help")
        if helped.returncode != 0:
            raise SystemExit(f"help_files: cairn {' '.join(path)} --help: {helped.stderr.decode()}")
        lines = helped.stdout.rstrip(b"\n").split(b"\n")
        usage = next(i for i, line in enumerate(lines) if line.startswith(b"Usage: "))
        command = Command(path, " ".join(line.decode() for line in lines[:usage]), lines[usage].decode().removeprefix("Usage: "),
                          {title: [] for title in SECTIONS}, [])  # fmt: skip
        title = None
        for line in lines[usage + 1 :]:
            text = line.decode()
            if text.removesuffix(":") in SECTIONS and not command.footer:
                title = text.removesuffix(":")
            elif title and line.startswith(b" " * COLUMN):
                item = command.sections[title][-1]
                item.text = f"{item.text} {text.strip()}".strip()
            elif title and line.startswith(b"  "):
                command.sections[title].append(self.item(line))
            else:
                title = None
                if text or command.footer:
                    command.footer.append(text)
        command.sections["Options"] = [item for item in command.options if item.name != "--help"]
        for item in command.options:
            if item.value:
                item.words = self.words_of(path, item.name)
        command.commands = [self.read((*path, item.name)) for item in command.sections["Subcommands"]]
        return command

    def item(self, line):
        """A head that passes the column has its description in the next line."""
        fits = line[COLUMN - 1 : COLUMN] in (b" ", b"")
        head = (line[:COLUMN] if fits else line).decode().strip()
        names, _, value = head.partition(" ")
        return Item(names.split(","), value, line[COLUMN:].decode().strip() if fits else "")


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti").replace('"', "\\(dq")
    return f"\\&{text}" if text.startswith(".") else text


def man_footer(lines):
    out = []
    verbatim = False
    for line in [*lines, ""]:
        if verbatim and not line.startswith("  "):
            out += [".fi", ".RE"]
            verbatim = False
        if not line:
            out.append(".P")
        elif line.startswith("  "):
            if not verbatim:
                out += [".RS 4", ".nf"]
                verbatim = True
            out.append(roff(line[2:]))
        else:
            if out and out[-1] == ".RE":
                out.append(".P")
            out.append(roff(line))
    while out and out[-1] == ".P":
        out.pop()
    return out


def man_items(command, title):
    out = []
    for item in command.sections[title]:
        font = "\\fB" if title == "Options" else "\\fI"
        head = ", ".join(f"{font}{roff(name)}\\fR" for name in item.names)
        if item.value:
            head += f" \\fI{roff(item.value)}\\fR"
        out += [".TP", head, roff(item.text) + ("" if item.text.endswith("]") else ".")]
        if item.words and not all(re.search(rf"\b{re.escape(word)}\b", item.text) for word in item.words):
            out.append(roff(f"One of {', '.join(item.words)}."))
    return out


def man_command(command):
    out = [f".SS {roff(' '.join(command.path))}", f"{roff(command.text)}.", ".P", f".B {roff(command.usage)}"]
    out += man_items(command, "Positionals") + man_items(command, "Options")
    return out + [".P"] + man_footer(command.footer)


def man_page(cairn, version):
    name = cairn.text.rstrip(".")
    out = ['.\\" Made from the help of the tool.', f'.TH CAIRN 1 "" "cairn {version}" "Cairn"',
           ".SH NAME", f"cairn \\- {roff(name[0].lower() + name[1:])}",
           ".SH SYNOPSIS", ".B cairn", "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...", ".br", ".B cairn \\-\\-help", ".br",
           ".B cairn", "\\fICOMMAND\\fR \\fB\\-\\-help\\fR", ".br", ".B cairn \\-\\-version",
           ".SH DESCRIPTION", *man_footer(cairn.footer),
           ".SH OPTIONS", roff(f"{' and '.join(anywhere(cairn))} may stand anywhere in the line."), *man_items(cairn, "Options"),
           ".SH COMMANDS"]  # fmt: skip
    for command in cairn.walk():
        if command.path and not command.commands:
            out += man_command(command)
    for title, rows in AFTER_COMMANDS:
        out.append(f".SH {title}")
        for name, text in rows:
            out += [".TP", f"\\fB{roff(name)}\\fR", roff(text)]
    return "\n".join([*out, ".SH SEE ALSO", *map(roff, SEE_ALSO)]) + "\n"


def anywhere(cairn):
    """The flags of the program that may stand between its words."""
    return [item.name for item in cairn.options if not item.value and item.name != "--version"]


def bash(cairn):
    commands = list(cairn.walk())
    cases = "\n".join(f"    '{command_name(command)}')\n"
                      f"      options='{' '.join(['--help', *(item.name for item in command.options)])}'\n"
                      f"      commands='{' '.join(child.path[-1] for child in command.commands)}'\n"
                      "      ;;" for command in commands)  # fmt: skip
    words = "\n".join(f"    '{command_name(command)} {item.name}') words='{' '.join(item.words)}' ;;"
                      for command in commands for item in command.options if item.words)  # fmt: skip
    return f"""# Completion of cairn for bash, made from the help of the tool.
_cairn() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}}
  local at=cairn options='' commands='' words='' i
  # The equals sign is a word of its own.
  if [[ $current == = ]]; then
    current=
  elif [[ $option == = ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$at ${{COMP_WORDS[i]}}" in
      {' | '.join(f"'{command_name(command)}'" for command in commands[1:])})
        at+=" ${{COMP_WORDS[i]}}"
        ;;
      {' | '.join(f"*' {flag}'" for flag in anywhere(cairn))}) ;;
      *) break ;;
    esac
  done
  case $at in
{cases}
  esac
  case "$at $option" in
{words}
  esac
  # Without an answer bash completes the names of files.
  if [[ -z $words && $current == -* ]]; then
    words=$options
  elif [[ -z $words ]] && ((i == COMP_CWORD)); then
    words=$commands
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _cairn cairn
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_option(item):
    text = re.sub(r"([\[\]:\\])", r"\\\1", item.summary)
    spec = f"{item.name}{'=' if item.value else ''}[{text}]"
    if item.value:
        value = re.sub(r"([:\\])", r"\\\1", item.value)
        spec += f":{value}:" + (f"({' '.join(item.words)})" if item.words else "_files")
    return "        " + quoted("*" + spec if "repeatable" in item.text else spec)


def zsh(cairn):
    commands = list(cairn.walk())
    cases = []
    for command in commands:
        cases.append(f"    '{command_name(command)}')")
        if command.commands:
            cases.append("      commands=(")
            cases += ["        " + quoted(f"{child.path[-1]}:" + child.text.replace("\\", "\\\\").replace(":", "\\:"))
                      for child in command.commands]  # fmt: skip
            cases.append("      )")
        options = ["        '--help[Print help and exit]'", *map(zsh_option, command.options)]
        if not command.commands:
            options.append("        '*:file:_files'")
        cases += ["      options=(", *options, "      )", "      ;;"]
    return f"""#compdef cairn
# Completion of cairn for zsh, made from the help of the tool.
_cairn() {{
  local at=cairn i=2
  local -a options commands
  while ((i < CURRENT)); do
    case "$at $words[i]" in
      {' | '.join(f"'{command_name(command)}'" for command in commands[1:])})
        at+=" $words[i]"
        ((++i))
        ;;
      {' | '.join(f"*' {flag}'" for flag in anywhere(cairn))}) ((++i)) ;;
      *) break ;;
    esac
  done
  case $at in
{chr(10).join(cases)}
  esac
  if ((i == CURRENT)) && [[ -n $commands && $words[i] != -* ]]; then
    _describe command commands
    return
  fi
  words=("${{(@)words[i-1,-1]}}")
  ((CURRENT -= i - 2))
  _arguments $options
}}
_cairn "$@"
"""


def fish(cairn):
    others = f"    set words (string match -v -r -- '^({'|'.join(anywhere(cairn))})$' $words)"
    out = ["# Completion of cairn for fish, made from the help of the tool.",
           "# Succeeds if the line names exactly this command, or none if none is given.",
           "function __cairn_is", "    set -l words (commandline -opc)", "    set -e words[1]", others,
           '    test "$words" = "$argv"', "end",
           "# Succeeds if the line begins with this command.",
           "function __cairn_at", "    set -l words (commandline -opc)", "    set -e words[1]", others,
           "    set -l count (count $argv)", "    test (count $words) -ge $count",
           '    and test "$words[1..$count]" = "$argv"', "end"]  # fmt: skip
    for command in cairn.walk():
        name = " ".join(command.path)
        is_at = f"__cairn_is {name}".strip() if command.commands else f"__cairn_at {name}"
        for child in command.commands:
            out.append(f"complete -c cairn -n {fish_quoted(is_at)} -f -a {child.path[-1]} -d {fish_quoted(child.text)}")
        out.append(f"complete -c cairn -n {fish_quoted(is_at)} -l help -d 'Print help and exit'")
        for item in command.options:
            takes = ""
            if item.words:
                takes = f" -x -a {fish_quoted(' '.join(item.words))}"
            elif item.value:
                takes = " -r"
            out.append(f"complete -c cairn -n {fish_quoted(is_at)} -l {item.name[2:]}{takes} -d {fish_quoted(item.summary)}")
    return "\n".join(out) + "\n"


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def command_name(command):
    return " ".join(("cairn", *command.path))


def main(tool, version, *paths):
    cairn = Reader(tool).read()
    for path, text in zip(paths, [man_page(cairn, version), bash(cairn), zsh(cairn), fish(cairn)]):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
