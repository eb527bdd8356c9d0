#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/blosc2_api/random/player.h"

namespace cairn::blosc2_api {

namespace {

constexpr unsigned kMostSeconds = 5;

Lines Split(const std::string& text) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return lines;
}

}  // namespace

void Transcript::Write(const std::string& line) const {
  if (write(file_, line.data(), line.size()) != std::ssize(line)) std::abort();
}

Lines InChild(const std::function<void(Transcript& transcript)>& play) {
  int pipes[2];
  if (pipe(pipes) != 0) return {"no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    Transcript transcript(pipes[1]);
    play(transcript);
    _exit(0);
  }
  close(pipes[1]);
  std::string text;
  char part[4096];
  for (ssize_t n = read(pipes[0], part, sizeof(part)); n > 0;
       n = read(pipes[0], part, sizeof(part))) {
    text.append(part, static_cast<size_t>(n));
  }
  close(pipes[0]);
  int status = 0;
  waitpid(child, &status, 0);
  Lines lines = Split(text);
  if (status != 0) lines.push_back("ended with status " + std::to_string(status));
  return lines;
}

}  // namespace cairn::blosc2_api
