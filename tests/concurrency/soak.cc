// soak [SECONDS [SEED]]: writes, reads, kills, compacts, reclaims, salvages and recovers frames of
// both layouts in several processes at the same time. Readers check all that they read. Fails
// when a state is wrong, a process does not end well, or what a process holds of the machine grows;
// runs of less than a minute do not tell growth.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/status.h"
#include "tests/concurrency/author.h"
#include "tests/concurrency/gauge.h"
#include "tests/concurrency/ledger.h"
#include "tests/concurrency/notice_board.h"
#include "tests/concurrency/roles.h"
#include "tests/concurrency/saver.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int64_t kMostItems = 256 * kChunkItems;
constexpr microseconds kWritersPause(2000);
constexpr microseconds kReadersPause(20000);
constexpr milliseconds kLongestLife(200);
constexpr seconds kTimeToEnd(600);
constexpr seconds kTellsGrowth(60);

enum class Kind {
  kKilled,  // one frame, and its writers are killed
  kSteady,  // one frame, and its writer stays
  kSaved,   // frame after frame is made, ruined and saved
};

std::string NameOf(Kind kind, Layout layout) {
  const char* const first = kind == Kind::kKilled   ? "killed"
                            : kind == Kind::kSteady ? "steady"
                                                    : "saved";
  return absl::StrCat(first, layout == Layout::kSparse ? " sparse" : " contiguous");
}

struct Scene {
  Scene(Kind kind_of_scene, Layout layout_of_frames, const std::string& parent)
      : name(NameOf(kind_of_scene, layout_of_frames)),
        folder(parent + "/" + name),
        layout(layout_of_frames),
        kind(kind_of_scene) {}

  const std::string name;
  const std::string folder;
  const Layout layout;
  const Kind kind;
  const NoticeBoard board;
  pid_t writer = 0;  // the one that is killed next
  Clock::time_point end_of_writer = {};
  int64_t killed = 0;
  int64_t leftovers = 0;  // files of compactions that were killed

  std::string path() const { return folder + "/frame"; }
};

class Soak {
 public:
  Soak(seconds time, uint64_t seed) : time_(time), random_(seed) {}
  ~Soak() {
    // Whatever went wrong, no process is left.
    for (const Scene& scene : scenes_) End(scene.writer);
    for (const pid_t child : running_) End(child);
  }

  absl::Status Run();
  void PrintCounts() const;
  // An error when something grows.
  absl::Status PrintFigures() const;

 private:
  uint64_t Seed() { return random_(); }
  static void End(pid_t child);
  // Runs `body` in a process that ends with it.
  static pid_t Fork(const NoticeBoard& board, const std::function<absl::Status()>& body);
  void Stay(const Scene& scene, const std::string& role, const std::function<absl::Status()>& body);

  absl::Status SetScenes();
  absl::Status MakeFrame(const Scene& scene);
  void AddWriter(const Scene& scene);
  void AddReaders(const Scene& scene);
  void AddSaver(const Scene& scene);
  Author::Options AuthorOptions(const Scene& scene, const std::shared_ptr<FileSystem>& files);
  void KillAndReplaceWriter(Scene& scene);
  static void CountLeftovers(Scene& scene);
  absl::Status WatchUntilEnd();
  absl::Status FirstFailure() const;
  absl::Status WhyEnded(int status) const;
  absl::Status ReadGauges();
  absl::Status LetAllEnd();
  absl::Status CheckFrame(const Scene& scene);

  const seconds time_;
  std::mt19937_64 random_;
  const TempDir dir_;
  UnsyncedFileSystem unsynced_;
  std::list<Scene> scenes_;
  std::vector<ProcessGauge> processes_;  // those that stay
  std::vector<pid_t> running_;           // of these
  Figure disk_{"KiB on disk", {.factor = 1.5, .more = 16384}};
};

void Soak::End(pid_t child) {
  if (child <= 0) return;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

pid_t Soak::Fork(const NoticeBoard& board, const std::function<absl::Status()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  const absl::Status status = body();
  if (!status.ok()) board.ReportFailure(status);
  ::_exit(status.ok() ? 0 : 1);
}

void Soak::Stay(const Scene& scene, const std::string& role,
                const std::function<absl::Status()>& body) {
  const std::string name = scene.name + " " + role;
  running_.push_back(Fork(scene.board, [&] { return Annotate(body(), "%s", name); }));
  processes_.emplace_back(name, running_.back());
}

Author::Options Soak::AuthorOptions(const Scene& scene, const std::shared_ptr<FileSystem>& files) {
  return {.path = scene.path(), .file_system = files, .most_items = kMostItems, .seed = Seed()};
}

absl::Status Soak::SetScenes() {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    for (const Kind kind : {Kind::kKilled, Kind::kSteady, Kind::kSaved}) {
      Scene& scene = scenes_.emplace_back(kind, layout, dir_.path());
      std::error_code ignored;
      std::filesystem::create_directory(scene.folder, ignored);
      if (kind == Kind::kSaved) {
        AddSaver(scene);
        continue;
      }
      CAIRN_RETURN_IF_ERROR(Annotate(MakeFrame(scene), "%s", scene.name));
      if (kind == Kind::kSteady) AddWriter(scene);
      AddReaders(scene);
    }
  }
  return absl::OkStatus();
}

absl::Status Soak::MakeFrame(const Scene& scene) {
  CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Create(scene.path(), LedgerOptions(scene.layout)));
  Author author(&frame, AuthorOptions(scene, nullptr));
  return author.Begin();
}

void Soak::AddWriter(const Scene& scene) {
  const Author::Options options = AuthorOptions(scene, nullptr);
  Stay(scene, "writer", [&] { return WriteUntilDone(scene.board, options, kWritersPause); });
}

void Soak::AddReaders(const Scene& scene) {
  for (const bool use_mmap : {true, false}) {
    const ReaderOptions options = {.path = scene.path(),
                                   .open = {.use_mmap = use_mmap},
                                   .seed = Seed(),
                                   .threads = 2,
                                   .longest_pause = kReadersPause};
    Stay(scene, use_mmap ? "reader" : "reader, no map",
         [&] { return ReadUntilWritersAreDone(scene.board, options); });
  }
}

void Soak::AddSaver(const Scene& scene) {
  const uint64_t seed = Seed();
  Stay(scene, "saver",
       [&] { return SaveFramesUntilDone(scene.board, scene.folder, scene.layout, seed); });
}

// Counts the files that writers left next to the frame. No other process knows whose they are.
void Soak::CountLeftovers(Scene& scene) {
  std::error_code error;
  std::filesystem::directory_iterator it(scene.folder, error);
  std::vector<std::filesystem::path> left;
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (it->path().extension() == ".tmp") left.push_back(it->path());
  }
  for (const auto& path : left) std::filesystem::remove_all(path, error);
  scene.leftovers += std::ssize(left);
}

void Soak::KillAndReplaceWriter(Scene& scene) {
  if (scene.writer != 0) {
    End(std::exchange(scene.writer, 0));
    ++scene.killed;
    CountLeftovers(scene);
  }
  // Only a power cut needs the syncs, but they hold a writer up where it may then be killed.
  const std::shared_ptr<FileSystem> files =
      Seed() % 2 == 0 ? PosixFileSystem() : Unowned(&unsynced_);
  const Author::Options options = AuthorOptions(scene, files);
  const bool recover = Seed() % 4 == 0;
  scene.writer = Fork(scene.board, [&]() -> absl::Status {
    const std::string name = absl::StrFormat("%s writer %d", scene.name, scene.killed);
    if (recover) CAIRN_RETURN_IF_ERROR(Annotate(Recover(scene.path()).status(), "%s", name));
    return Annotate(WriteUntilDone(scene.board, options), "%s", name);
  });
  scene.end_of_writer = Clock::now() + milliseconds(Seed() % kLongestLife.count());
}

absl::Status Soak::FirstFailure() const {
  for (const Scene& scene : scenes_) {
    if (scene.board->failed) return absl::DataLossError(scene.board->why.data());
  }
  return absl::OkStatus();
}

absl::Status Soak::WhyEnded(int status) const {
  CAIRN_RETURN_IF_ERROR(FirstFailure());
  return absl::InternalError(absl::StrFormat("a process ended with status %#x", status));
}

absl::Status Soak::ReadGauges() {
  for (ProcessGauge& process : processes_) {
    int status = 0;
    if (::waitpid(process.pid(), &status, WNOHANG) != 0) {
      std::erase(running_, process.pid());
      return WhyEnded(status);
    }
    process.Read();
  }
  disk_.Add(KibOfFolder(dir_.path()));
  return absl::OkStatus();
}

absl::Status Soak::WatchUntilEnd() {
  const milliseconds interval = std::min<milliseconds>(seconds(5), time_ / 40);
  const auto end = Clock::now() + time_;
  auto next_reading = Clock::now() + interval;
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    CAIRN_RETURN_IF_ERROR(FirstFailure());
    for (Scene& scene : scenes_) {
      if (scene.kind == Kind::kKilled && now >= scene.end_of_writer) KillAndReplaceWriter(scene);
    }
    if (now >= next_reading) {
      CAIRN_RETURN_IF_ERROR(ReadGauges());
      next_reading += interval;
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  return absl::OkStatus();
}

absl::Status Soak::LetAllEnd() {
  for (Scene& scene : scenes_) {
    End(std::exchange(scene.writer, 0));
    scene.board->writers_done = true;
  }
  const auto give_up = Clock::now() + kTimeToEnd;
  while (!running_.empty()) {
    if (Clock::now() > give_up) return absl::DeadlineExceededError("a process does not end");
    int status = 0;
    if (::waitpid(running_.back(), &status, WNOHANG) == 0) {
      std::this_thread::sleep_for(milliseconds(1));
      continue;
    }
    running_.pop_back();
    if (status != 0) return WhyEnded(status);
  }
  return absl::OkStatus();
}

// No other process is there any more.
absl::Status Soak::CheckFrame(const Scene& scene) {
  CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(scene.path()));
  CAIRN_ASSIGN_OR_RETURN(const VerifyReport report, frame.snapshot().Verify());
  if (!report.ok()) return absl::DataLossError(report.findings.front().reason);
  Author author(&frame, AuthorOptions(scene, nullptr));
  CAIRN_RETURN_IF_ERROR(author.Resume());
  if (author.committed().commit < scene.board->commit) {
    return absl::DataLossError(absl::StrFormat(
        "commit %d, %d was acknowledged", author.committed().commit, scene.board->commit.load()));
  }
  return author.End();
}

absl::Status Soak::Run() {
  CAIRN_RETURN_IF_ERROR(SetScenes());
  CAIRN_RETURN_IF_ERROR(WatchUntilEnd());
  CAIRN_RETURN_IF_ERROR(LetAllEnd());
  for (const Scene& scene : scenes_) {
    if (scene.kind != Kind::kSaved)
      CAIRN_RETURN_IF_ERROR(Annotate(CheckFrame(scene), "%s", scene.name));
  }
  return absl::OkStatus();
}

void Soak::PrintCounts() const {
  std::printf("%-18s %10s %10s %10s %10s %10s %10s\n", "", "steps", "commits", "states", "killed",
              "opened", "left");
  for (const Scene& scene : scenes_) {
    std::printf("%-18s %10ld %10ld %10ld %10ld %10ld %10ld\n", scene.name.c_str(),
                scene.board->steps.load(), scene.board->commit.load(),
                scene.board->states_seen.load(), scene.killed, scene.board->writers_ready.load(),
                scene.leftovers);
  }
}

// Prints a row for each figure of a process, for people.
absl::Status Soak::PrintFigures() const {
  absl::Status status;
  const auto print = [&](const std::string& process, const Figure& figure) {
    const bool grows = figure.Grows();
    std::printf("%-32s %-12s %10ld %10ld %10ld%s\n", process.c_str(), figure.name().c_str(),
                figure.early(), figure.late(), figure.most(), grows ? " grows" : "");
    if (grows) status = absl::ResourceExhaustedError(process + ": " + figure.name() + " grows");
  };
  std::printf("%-32s %-12s %10s %10s %10s\n", "", "", "2nd quarter", "last", "most");
  for (const ProcessGauge& process : processes_) {
    for (const Figure& figure : process.figures()) print(process.name(), figure);
  }
  print("all frames", disk_);
  return time_ < kTellsGrowth ? absl::OkStatus() : status;
}

int Main(int seconds_to_run, uint64_t seed) {
  std::printf("soak: %d seconds, seed %lu\n", seconds_to_run, seed);
  Soak soak(seconds(seconds_to_run), seed);
  absl::Status status = soak.Run();
  soak.PrintCounts();
  const absl::Status flat = soak.PrintFigures();
  if (status.ok()) status = flat;
  std::printf("soak: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace cairn::test

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 1800;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : std::random_device()();
  return cairn::test::Main(seconds, seed);
}
