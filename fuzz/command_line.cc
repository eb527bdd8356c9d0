// The input is the words of a command line, a line each. It is understood or refused, and the
// command that it names is not run.

#include "tools/cairn/command_line.h"

#include <string>
#include <vector>

#include "fuzz/input.h"
#include "fuzz/mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> words = {"cairn", ""};
  for (size_t i = 0; i < size; ++i) {
    const auto c = static_cast<char>(data[i]);
    if (c == '\n') {
      words.emplace_back();
    } else if (c != '\0') {
      words.back() += c;
    }
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  cairn::tool::ParseCommandLine(static_cast<int>(argv.size()), argv.data());
  return 0;
}
