// Measures a frame that a database uses, each chunk one page: the cost of commits and warm reads,
// and the space that the file takes while pages are replaced.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/chunk.h"
#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/results/latencies.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int32_t kPage = 4096;
constexpr double kMB = 1e6;

CompressionOptions PageCompression() {
  CompressionOptions compression;
  compression.codec = Codec::kLz4;
  compression.filters = {};
  return compression;
}

// Makes rows of 64 bytes, half of which cannot be compressed.
class PageSource {
 public:
  Bytes Next() {
    for (size_t at = 0; at < page_.size(); at += 64) {
      for (size_t i = 0; i < 32; i += 8) {
        const uint64_t number = random_();
        std::memcpy(page_.data() + at + i, &number, sizeof(number));
      }
      std::memset(page_.data() + at + 32, static_cast<int>(random_() % 16), 32);
    }
    return page_;
  }
  int64_t Number(int64_t below) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(below));
  }

 private:
  std::mt19937_64 random_{1};
  std::vector<std::byte> page_ = std::vector<std::byte>(kPage);
};

// The calls that a program makes around each commit.
struct Habit {
  Durability durability = Durability::kProcess;
  bool suspends = false;
  bool has_reader = false;  // a reader refreshes after each commit

  std::string ToString() const {
    return absl::StrFormat("%s%s%s", durability == Durability::kMachine ? "kMachine" : "kProcess",
                           suspends ? ", suspended between" : "", has_reader ? ", a reader" : "");
  }
};

// A frame of pages and its writer, which stays.
class Paged {
 public:
  static absl::StatusOr<std::unique_ptr<Paged>> Make(const std::string& path, int64_t npages) {
    CreateOptions options;
    options.compression = PageCompression();
    options.chunksize = kPage;
    options.overwrite = true;
    {
      ASSIGN_OR_RETURN(Frame frame, Frame::Create(path, options));
      ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
      PageSource source;
      for (int64_t i = 0; i < npages; ++i) RETURN_IF_ERROR(writer.Append(source.Next()));
      RETURN_IF_ERROR(writer.Checkpoint());
      RETURN_IF_ERROR(writer.Close());
    }
    ASSIGN_OR_RETURN(Frame frame, Frame::Open(path));
    ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
    return std::unique_ptr<Paged>(new Paged(path, std::move(frame), std::move(writer), npages));
  }
  ~Paged() {
    writer_.reset();
    RemoveStore(path_);
  }
  Paged(const Paged&) = delete;
  Paged& operator=(const Paged&) = delete;

  Frame& frame() { return frame_; }
  PageSource& source() { return source_; }
  int64_t npages() const { return npages_; }

  // Commits new content for `updates` pages anywhere, and for `appends` at the end.
  absl::Status Commit(int64_t updates, int64_t appends, const Habit& habit) {
    if (suspended_) RETURN_IF_ERROR(writer_->Resume());
    suspended_ = habit.suspends;
    for (int64_t i = 0; i < updates; ++i) {
      const int64_t nchunk = source_.Number(npages_);
      RETURN_IF_ERROR(writer_->UpdateChunk(nchunk, source_.Next()));
    }
    for (int64_t i = 0; i < appends; ++i) RETURN_IF_ERROR(writer_->Append(source_.Next()));
    npages_ += appends;
    RETURN_IF_ERROR(writer_->Commit(habit.durability).status());
    return suspended_ ? writer_->Suspend() : absl::OkStatus();
  }
  absl::Status Close() {
    if (suspended_) RETURN_IF_ERROR(writer_->Resume());
    return writer_->Close();
  }
  absl::StatusOr<int64_t> AllocatedBytes() const {
    struct stat about = {};
    if (::stat(path_.c_str(), &about) != 0) return absl::InternalError("stat: " + path_);
    return int64_t{about.st_blocks} * 512;
  }

 private:
  Paged(std::string path, Frame frame, Writer writer, int64_t npages)
      : path_(std::move(path)),
        frame_(std::move(frame)),
        writer_(std::move(writer)),
        npages_(npages) {}

  std::string path_;
  Frame frame_;
  std::optional<Writer> writer_;
  PageSource source_;
  int64_t npages_;
  bool suspended_ = false;
};

// Returns the microseconds for making and coding a page.
absl::StatusOr<double> CostOfCoding() {
  constexpr int kTimes = 20'000;
  PageSource source;
  std::vector<std::byte> coded(MaxCompressedSize(kPage));
  ASSIGN_OR_RETURN(const ChunkCompressor coder, ChunkCompressor::Make(PageCompression()));
  const double begin = Now(Clock::kWall);
  for (int i = 0; i < kTimes; ++i) {
    RETURN_IF_ERROR(coder.Compress(source.Next(), coded).status());
  }
  return (Now(Clock::kWall) - begin) * 1e6 / kTimes;
}

absl::Status TimeCommits(Paged& paged, int64_t updates, int64_t commits, const Habit& habit,
                         Session& session) {
  for (int64_t i = 0; i < commits / 10; ++i) RETURN_IF_ERROR(paged.Commit(updates, 0, habit));
  ASSIGN_OR_RETURN(const double coding, CostOfCoding());
  Latencies latencies;
  const double begin = Now(Clock::kWall);
  for (int64_t i = 0; i < commits; ++i) {
    const double start = Now(Clock::kWall);
    RETURN_IF_ERROR(paged.Commit(updates, 0, habit));
    latencies.Add(Now(Clock::kWall) - start);
  }
  const double mean = (Now(Clock::kWall) - begin) * 1e6 / static_cast<double>(commits);
  latencies.Sort();
  const double less = coding * static_cast<double>(updates);
  session.report.Note(absl::StrFormat(
      "%d pages of %d, %s: %.1f us a commit and %.1f for coding; the median %.1f, p99 %.1f, "
      "longest %.0f",
      updates, paged.npages(), habit.ToString(), mean - less, less,
      latencies.Quantile(0.5) * 1e6 - less, latencies.Quantile(0.99) * 1e6 - less,
      latencies.longest() * 1e6));
  return absl::OkStatus();
}

absl::Status TimeReads(Paged& paged, int64_t below, Session& session) {
  const Snapshot snapshot = paged.frame().snapshot();
  std::vector<std::byte> page(kPage);
  for (int64_t pass = 0; pass < 3; ++pass) {
    for (int64_t i = 0; i < below; ++i) RETURN_IF_ERROR(snapshot.ReadChunk(i, page));
  }
  constexpr int64_t kReads = 200'000;
  const auto time = [&](auto next) -> absl::StatusOr<double> {
    const double begin = Now(Clock::kWall);
    for (int64_t i = 0; i < kReads; ++i) RETURN_IF_ERROR(snapshot.ReadChunk(next(i), page));
    return (Now(Clock::kWall) - begin) * 1e6 / kReads;
  };
  ASSIGN_OR_RETURN(const double random,
                   time([&](int64_t) { return paged.source().Number(below); }));
  ASSIGN_OR_RETURN(const double scan, time([&](int64_t i) { return i % below; }));
  session.report.Note(absl::StrFormat(
      "%d pages again and again: %.3f us for each anywhere, %.3f in order", below, random, scan));
  return absl::OkStatus();
}

// Samples the size of the file and its live bytes.
absl::Status WatchSpace(const std::string& path, int64_t npages, int64_t updates, int64_t commits,
                        const Habit& habit, Session& session) {
  ASSIGN_OR_RETURN(const auto paged, Paged::Make(path, npages));
  std::optional<Frame> reading;
  if (habit.has_reader) {
    ASSIGN_OR_RETURN(reading, Frame::Open(path));
  }
  ASSIGN_OR_RETURN(const int64_t before, paged->AllocatedBytes());
  std::vector<double> ratios;
  int64_t largest = 0;
  const double begin = Now(Clock::kWall);
  for (int64_t i = 0; i < commits; ++i) {
    const int64_t changed = updates > 0 ? updates : 1 + i % 3;
    RETURN_IF_ERROR(paged->Commit(changed, updates == 0 && i % 50 == 0 ? 1 : 0, habit));
    if (reading.has_value()) RETURN_IF_ERROR(reading->Refresh().status());
    if (i % 50 != 0) continue;
    ASSIGN_OR_RETURN(const int64_t taken, paged->AllocatedBytes());
    const int64_t live = paged->frame().snapshot().info().cbytes;
    ratios.push_back((static_cast<double>(taken) - (1 << 20)) / static_cast<double>(live));
    largest = std::max(largest, taken);
  }
  const double seconds = Now(Clock::kWall) - begin;
  RETURN_IF_ERROR(paged->Close());
  ASSIGN_OR_RETURN(const int64_t after, paged->AllocatedBytes());
  const auto live = static_cast<double>(paged->frame().snapshot().info().cbytes);
  std::ranges::sort(ratios);
  session.report.Note(absl::StrFormat(
      "%d commits of %s pages, %s: %.2f MB before, largest %.2f, closed %.2f, of %.2f live at the "
      "end; less 1 MiB %.2f times what lives at the median, %.2f at most; %.1f us a commit",
      commits, updates > 0 ? std::to_string(updates) : "1-3", habit.ToString(),
      static_cast<double>(before) / kMB, static_cast<double>(largest) / kMB,
      static_cast<double>(after) / kMB, live / kMB, ratios[ratios.size() / 2], ratios.back(),
      seconds * 1e6 / static_cast<double>(commits)));
  return absl::OkStatus();
}

struct PagesSetting {
  int64_t npages = 25'000;
  int64_t commits = 5000;
  int64_t updating = 20'000;
  bool skip_commits = false;
  bool skip_reads = false;
  bool skip_space = false;
};

absl::Status RunCommits(Session& session, const std::string& path, const PagesSetting& sizes) {
  for (const Durability durability : {Durability::kProcess, Durability::kMachine}) {
    for (const bool suspends : {false, true}) {
      ASSIGN_OR_RETURN(const auto paged, Paged::Make(path, sizes.npages));
      for (const int64_t updates : {1, 3, 10}) {
        RETURN_IF_ERROR(TimeCommits(*paged, updates, sizes.commits,
                                    {.durability = durability, .suspends = suspends}, session));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RunSpace(Session& session, const std::string& path, const PagesSetting& sizes) {
  // The sizes are 3, 5 and 25 MB.
  for (const int64_t npages : {1125, 1875, 9375}) {
    for (const bool suspends : {false, true}) {
      for (const bool reads : {false, true}) {
        RETURN_IF_ERROR(WatchSpace(
            path, npages, 0, sizes.updating,
            {.durability = Durability::kMachine, .suspends = suspends, .has_reader = reads},
            session));
        RETURN_IF_ERROR(WatchSpace(
            path, npages, 10, sizes.updating / 4,
            {.durability = Durability::kMachine, .suspends = suspends, .has_reader = reads},
            session));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RunPages(Session& session, const PagesSetting& sizes) {
  const std::string path = session.PathFor("pages");
  if (!sizes.skip_commits) RETURN_IF_ERROR(RunCommits(session, path, sizes));
  if (!sizes.skip_reads) {
    ASSIGN_OR_RETURN(const auto paged, Paged::Make(path, sizes.npages));
    for (const int64_t below : {1000, 10'000}) {
      RETURN_IF_ERROR(TimeReads(*paged, std::min(below, sizes.npages), session));
    }
  }
  return sizes.skip_space ? absl::OkStatus() : RunSpace(session, path, sizes);
}

}  // namespace

void AddPages(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("pages", "A frame whose chunks are the pages of a database");
  const auto sizes = std::make_shared<PagesSetting>();
  command->add_option("--pages", sizes->npages, "Pages of the frame that is timed")
      ->capture_default_str();
  command->add_option("--commits", sizes->commits, "Commits of each kind")->capture_default_str();
  command->add_option("--updating", sizes->updating, "Commits while the file is watched")
      ->capture_default_str();
  command->add_flag("--no-commits", sizes->skip_commits, "Leave out what commits cost");
  command->add_flag("--no-reads", sizes->skip_reads, "Leave out what warm reads cost");
  command->add_flag("--no-space", sizes->skip_space, "Leave out what the file takes");
  command->callback(
      [sizes, &session] { session.run = [sizes, &session] { return RunPages(session, *sizes); }; });
}

}  // namespace cairn::bench
