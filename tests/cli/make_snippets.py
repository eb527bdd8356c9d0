"""Makes a program of the C++ snippets of documents: make_snippets.py OUT EXAMPLE INCLUDE DOCUMENT...

Or of those in C, if OUT ends in ".c". Each ```cpp or ```c block becomes a function; main runs them one after the other, in the order of the documents. What a snippet
needs and a reader does not is in a comment before it, which Markdown hides:

    <!-- given: std::vector<float> items(1000); -->

Every absl::Status, absl::StatusOr and cairn_code that a snippet declares has to be OK in the end. A block with a main() is a whole
program and has to be EXAMPLE, which is a test of its own.
"""

import os
import re
import sys

BLOCK = r"(?ms)(?:^<!-- given:(?P<given>.*?)-->\n+)?^```LANGUAGE\n(?P<code>.*?)^```$"
RESULT = re.compile(r"(?m)^(?:absl::Status(?:Or<.*?>)?|cairn_code) (\w+) = ")

C_PROLOGUE = """#include <stdio.h>
#include <stdlib.h>

#include "cairn/cairn.h"
#include "cairn/cairn_log.h"

static void Check(cairn_code code, const char* name) {
  if (code == CAIRN_OK) return;
  fprintf(stderr, "%s: %s\\n", name, cairn_code_name(code));
  exit(1);
}

// Of 1000 items of 8 bytes.
static void make_frame(const char* path) {
  static const double items[1000];
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  cairn_create_options options = CAIRN_CREATE_OPTIONS_INIT;
  cairn_writer* writer = NULL;
  compression.typesize = 8;
  options.compression = &compression;
  options.overwrite = true;
  Check(cairn_frame_build(path, &options, &writer, NULL), "make_frame");
  Check(cairn_writer_append(writer, items, sizeof items, NULL), "make_frame");
  Check(cairn_writer_close(writer, NULL), "make_frame");
  cairn_writer_free(writer);
}
"""

CPP_PROLOGUE = """#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <span>
#include <vector>

HEADERS
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

}  // namespace
"""


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def snippets(document, language, example):
    with open(document, encoding="utf-8") as file:
        text = file.read()
    for block in re.finditer(BLOCK.replace("LANGUAGE", language), text):
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
    language = "c" if out.endswith(".c") else "cpp"
    functions = [code for document in documents for code in snippets(document, language, example)]
    headers = sorted(name for name in os.listdir(include) if name.endswith(".h"))
    includes = "".join(f'#include "cairn/{name}"\n' for name in headers)
    with open(out, "w", encoding="utf-8") as file:
        file.write(C_PROLOGUE if language == "c" else CPP_PROLOGUE.replace("HEADERS\n", includes))
        for number, code in enumerate(functions):
            file.write(f"\nstatic void Snippet{number}(void) {{\n{code}}}\n")
        file.write("\nint main(void) {\n")
        file.writelines(f"  Snippet{number}();\n" for number in range(len(functions)))
        file.write("  return 0;\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
