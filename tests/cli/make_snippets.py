"""Makes a program of the C++ snippets of documents: make_snippets.py OUT EXAMPLE INCLUDE DOCUMENT...

Each ```cpp block becomes a function; main runs them one after the other, in the order of the documents. What a snippet
needs and a reader does not is in a comment before it, which Markdown hides:

    <!-- given: std::vector<float> items(1000); -->

Every absl::Status and absl::StatusOr that a snippet declares has to be OK in the end. A block with a main() is a whole
program and has to be EXAMPLE, which is a test of its own.
"""

import os
import re
import sys

BLOCK = re.compile(r"(?ms)(?:^<!-- given:(?P<given>.*?)-->\n+)?^```cpp\n(?P<code>.*?)^```$")
RESULT = re.compile(r"(?m)^absl::Status(?:Or<.*?>)? (\w+) = ")

PROLOGUE = """
namespace {

void Check(const absl::Status& status, const char* name) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\\n", name, status.ToString().c_str());
  std::exit(1);
}

template <typename T>
void Check(const absl::StatusOr<T>& result, const char* name) {
  Check(result.status(), name);
}
"""


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def snippets(document, example):
    with open(document, encoding="utf-8") as file:
        text = file.read()
    for block in BLOCK.finditer(text):
        where = f"{document}:{line_of(text, block.start('code'))}"
        code = block.group("code")
        if "int main(" in code:
            if code != example:
                sys.exit(f"{where}: is not the example that is compiled")
            continue
        parts = []
        for part in ("given", "code"):
            if block.group(part):
                parts.append(f'#line {line_of(text, block.start(part))} "{document}"\n{block.group(part)}\n')
        checks = [f'  Check({name}, "{where}: {name}");\n' for name in RESULT.findall(code)]
        yield "".join(parts) + "".join(checks)


def main(out, example, include, *documents):
    with open(example, encoding="utf-8") as file:
        example = file.read()
    functions = [code for document in documents for code in snippets(document, example)]
    headers = sorted(name for name in os.listdir(include) if name.endswith(".h"))
    with open(out, "w", encoding="utf-8") as file:
        file.write("#include <cstdio>\n#include <cstdlib>\n#include <mutex>\n#include <span>\n#include <vector>\n\n")
        file.writelines(f'#include "cairn/{name}"\n' for name in headers)
        file.write(PROLOGUE)
        for number, code in enumerate(functions):
            file.write(f"\nvoid Snippet{number}() {{\n{code}}}\n")
        file.write("\n}  // namespace\n\nint main() {\n")
        file.writelines(f"  Snippet{number}();\n" for number in range(len(functions)))
        file.write("}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
