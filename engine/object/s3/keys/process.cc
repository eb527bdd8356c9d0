#include "engine/object/s3/keys/process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "engine/object/s3/http/http_message.h"
#include "engine/object/s3/http/s3_error.h"
#include "engine/object/s3/keys/key_answers.h"

extern char** environ;

namespace cairn::object {

namespace {

constexpr size_t kMostOutput = size_t{64} << 10;
constexpr std::chrono::milliseconds kAskAgain{100};  // asks each time whether to keep waiting

// The attributes and actions of a new process.
class SpawnSettings {
 public:
  explicit SpawnSettings(int output) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawnattr_init(&attributes_);
    // This thread has all signals blocked, and the program may ignore some.
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int signal : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGCHLD}) {
      ::sigaddset(&signals, signal);
    }
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// A running program, which is killed at the end if it still runs.
class RunningProgram {
 public:
  explicit RunningProgram(const TransportOptions& transport)
      : transport_(transport), deadline_(Clock::now() + transport.call_timeout) {}
  ~RunningProgram() {
    if (output_ >= 0) ::close(output_);
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  absl::Status Start(const std::vector<std::string>& words) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Failed(errno);
    output_ = ends[0];
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const SpawnSettings settings(ends[1]);
    const int error = ::posix_spawnp(&child_, arguments[0], settings.actions(),
                                     settings.attributes(), arguments.data(), environ);
    ::close(ends[1]);
    if (error == 0) return absl::OkStatus();
    child_ = -1;
    return Failed(error);
  }

  // Returns all that the program writes.
  absl::StatusOr<std::string> ReadAll() {
    std::string text;
    for (;;) {
      CAIRN_RETURN_IF_ERROR(CheckTime());
      pollfd end{.fd = output_, .events = POLLIN, .revents = 0};
      if (::poll(&end, 1, static_cast<int>(kAskAgain.count())) <= 0) continue;
      char bytes[4096];
      const ssize_t size = ::read(output_, bytes, sizeof bytes);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return Failed(errno);
      if (size == 0) return text;
      text.append(bytes, static_cast<size_t>(size));
      if (text.size() > kMostOutput) {
        return absl::DataLossError(absl::StrCat("wrote more than ", kMostOutput, " bytes"));
      }
    }
  }

  // Waits for the end of the program. Errors: kPermissionDenied if it failed.
  absl::Status CheckEnd() {
    int status = 0;
    for (;;) {
      const pid_t ended = ::waitpid(child_, &status, WNOHANG);
      // Somebody else in this process may have waited for it, or nobody may wait for anything.
      if (ended < 0 && errno == ECHILD) status = 0;
      if (ended > 0 || (ended < 0 && errno == ECHILD)) break;
      CAIRN_RETURN_IF_ERROR(CheckTime());
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    child_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
    return absl::PermissionDeniedError(WIFEXITED(status)
                                           ? absl::StrCat("exit status ", WEXITSTATUS(status))
                                           : absl::StrCat("ended by signal ", WTERMSIG(status)));
  }

 private:
  static absl::Status Failed(int error) {
    return absl::PermissionDeniedError(absl::StrCat("cannot be run: ", std::strerror(error)));
  }
  absl::Status CheckTime() {
    const Clock::time_point now = Clock::now();
    if (now >= deadline_) {
      return absl::UnavailableError(
          absl::StrCat("has not ended after ", transport_.call_timeout.count(), " ms"));
    }
    if (now < asked_ + kAskAgain) return absl::OkStatus();
    asked_ = now;
    const TransportWait wait{
        .store = "credential_process",
        .time = transport_.call_timeout -
                std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - now)};
    if (!transport_.keep_waiting || transport_.keep_waiting(wait)) return absl::OkStatus();
    return absl::CancelledError("interrupted");
  }

  const TransportOptions& transport_;
  const Clock::time_point deadline_;
  Clock::time_point asked_;
  pid_t child_ = -1;
  int output_ = -1;
};

absl::StatusOr<S3LentKeys> RunForKeys(const std::vector<std::string>& words,
                                      const TransportOptions& transport) {
  RunningProgram program(transport);
  CAIRN_RETURN_IF_ERROR(program.Start(words));
  CAIRN_ASSIGN_OR_RETURN(const std::string output, program.ReadAll());
  CAIRN_RETURN_IF_ERROR(program.CheckEnd());
  return ParseProcessKeys(output);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitCommand(std::string_view command) {
  std::vector<std::string> words;
  char quote = 0;
  bool in_word = false;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      if (!std::exchange(in_word, true)) words.emplace_back();
      words.back() += command[++i];
    } else if (quote == 0 && absl::ascii_isspace(static_cast<unsigned char>(c))) {
      in_word = false;
    } else {
      if (!std::exchange(in_word, true)) words.emplace_back();
      if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else {
        words.back() += c;
      }
    }
  }
  if (quote != 0 || words.empty() || words[0].empty() ||
      command.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError("credential_process: expected a program and its arguments");
  }
  return words;
}

S3KeySource ProcessSource(std::string command) {
  return [command =
              std::move(command)](const TransportOptions& transport) -> absl::StatusOr<S3LentKeys> {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> words, SplitCommand(command));
    absl::StatusOr<S3LentKeys> lent = RunForKeys(words, transport);
    if (lent.ok()) return lent;
    // The arguments may be secret.
    return AtPlace("credential_process " + words[0], lent.status());
  };
}

}  // namespace cairn::object
