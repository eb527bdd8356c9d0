// What commits, refreshing and opening cost as a frame and its journal grow.
//
//   cairn-journal-cost [MOST_COMMITS [DIRECTORY]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "tools/bench/counting_files.h"

namespace cairn::bench {
namespace {

using Clock = std::chrono::steady_clock;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void Insist(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename T>
T Take(absl::StatusOr<T> result) {
  Insist(result.status());
  return *std::move(result);
}

// Pieces of which one half is noise and the other zeros, no two alike for a long time.
class Payload {
 public:
  Payload() {
    std::mt19937_64 random(1);
    for (std::byte& byte : noise_) byte = static_cast<std::byte>(random() >> 56);
  }
  Bytes Next(size_t size) {
    piece_.assign(size, std::byte{0});
    at_ = (at_ + 611) % (noise_.size() - size);
    std::copy_n(noise_.begin() + static_cast<std::ptrdiff_t>(at_), size / 2, piece_.begin());
    return piece_;
  }

 private:
  std::vector<std::byte> noise_ = std::vector<std::byte>(1 << 22);
  std::vector<std::byte> piece_;
  size_t at_ = 0;
};

// An empty frame, and the writer that fills it.
class Filling {
 public:
  Filling(const std::string& path, int32_t chunksize) : frame_(Make(path, chunksize)) {
    writer_.emplace(Take(frame_.OpenWriter()));
    // An empty frame is not checkpointed in place; that is not what is measured.
    Append(chunksize, Durability::kProcess);
    Insist(writer_->Checkpoint());
    files_.Reset();
  }
  const Counts& counts() const { return files_.counts(); }
  void Append(size_t nbytes, Durability durability) {
    Insist(writer_->Append(payload_.Next(nbytes)));
    Insist(writer_->Commit(durability).status());
  }

 private:
  Frame Make(const std::string& path, int32_t chunksize) {
    CreateOptions options;
    options.chunksize = chunksize;
    options.overwrite = true;
    options.file_system = &files_;
    return Take(Frame::Create(path, options));
  }

  CountingFileSystem files_;
  Payload payload_;
  Frame frame_;
  std::optional<Writer> writer_;
};

void MeasureAppends(const std::string& path, size_t nbytes, int32_t chunksize, int64_t most) {
  std::printf("\nCommits of %zu bytes (kProcess), chunks of %d bytes\n", nbytes, chunksize);
  std::printf("%10s %16s %16s %12s %8s %20s\n", "commits", "us/commit here", "us/commit so far",
              "checkpoints", "syncs", "written / payload");
  Filling filling(path, chunksize);
  const Clock::time_point start = Clock::now();
  Clock::time_point since = start;
  int64_t before = 0;
  int64_t next = 1000;
  for (int64_t i = 1; i <= most; ++i) {
    filling.Append(nbytes, Durability::kProcess);
    if (i != next) continue;
    const double here = MicrosecondsSince(since) / static_cast<double>(i - before);
    const double all = MicrosecondsSince(start) / static_cast<double>(i);
    const Counts& counts = filling.counts();
    const double payload = static_cast<double>(i) * static_cast<double>(nbytes);
    std::printf("%10lld %16.2f %16.2f %12lld %8lld %20.3f\n", static_cast<long long>(i), here, all,
                static_cast<long long>(counts.header_writes), static_cast<long long>(counts.syncs),
                static_cast<double>(counts.bytes_written) / payload);
    since = Clock::now();
    before = i;
    next *= 10;
  }
}

double Percentile(std::vector<double>& times, double share) {
  const auto nth =
      times.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), nth, times.end());
  return *nth;
}

void PrintPercentiles(const char* name, std::vector<double>& times) {
  std::printf("%-44s %10.1f %10.1f\n", name, Percentile(times, 0.5), Percentile(times, 0.99));
}

// A file with room ahead, to which pieces are appended with a sync each.
class BareFile {
 public:
  // `written` fills the room with zeros, so that the disk blocks need no conversion later.
  BareFile(const std::string& path, int64_t size, bool written)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    bool ok = fd_ >= 0 && ::posix_fallocate(fd_, 0, size) == 0;
    const std::vector<std::byte> zeros(1 << 20);
    for (int64_t at = 0; ok && written && at < size; at += std::ssize(zeros)) {
      ok = ::pwrite(fd_, zeros.data(), zeros.size(), at) == std::ssize(zeros);
    }
    if (!ok || ::fsync(fd_) != 0) Insist(absl::InternalError("cannot make " + path));
  }
  ~BareFile() { ::close(fd_); }
  BareFile(const BareFile&) = delete;
  BareFile& operator=(const BareFile&) = delete;

  void Append(Bytes bytes) {
    const bool ok = ::pwrite(fd_, bytes.data(), bytes.size(), end_) == std::ssize(bytes) &&
                    ::fdatasync(fd_) == 0;
    if (!ok) Insist(absl::InternalError("cannot write a bare file"));
    end_ += std::ssize(bytes);
  }

 private:
  const int fd_;
  int64_t end_ = 0;
};

void MeasureDurableCommits(const std::string& directory) {
  constexpr size_t kSize = 1024;
  constexpr int kRounds = 40;
  constexpr int kCommits = 50;
  constexpr int64_t kRoom = 2 * kRounds * kCommits * int64_t{kSize};
  Filling filling(directory + "/durable.b2frame", 1 << 20);
  BareFile reserved(directory + "/bare.reserved", kRoom, false);
  BareFile written(directory + "/bare.written", kRoom, true);
  Payload payload;
  std::vector<double> times[3];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 3 * kCommits; ++i) {
      const int which = i / kCommits;
      const Bytes bytes = payload.Next(kSize);
      const Clock::time_point start = Clock::now();
      if (which == 0) filling.Append(kSize, Durability::kMachine);
      if (which == 1) reserved.Append(bytes);
      if (which == 2) written.Append(bytes);
      times[which].push_back(MicrosecondsSince(start));
    }
  }
  std::printf("\nDurable appends of %zu bytes, us%31s %10s\n", kSize, "p50", "p99");
  PrintPercentiles("Writer::Commit(kMachine)", times[0]);
  PrintPercentiles("pwrite + fdatasync, reserved space", times[1]);
  PrintPercentiles("pwrite + fdatasync, space written before", times[2]);
}

// Leaves a frame with a journal of so many batches.
void LeaveJournal(const std::string& path, int64_t nbatches) {
  Filling filling(path, 1 << 20);
  for (int64_t i = 0; i < nbatches; ++i) filling.Append(16, Durability::kProcess);
}

void MeasureRefresh(const std::string& path) {
  std::printf("\nRefresh without news%16s %12s\n", "ns", "calls");
  LeaveJournal(path, 1000);
  for (const bool use_mmap : {true, false}) {
    CountingFileSystem files;
    Frame frame = Take(Frame::Open(path, {.use_mmap = use_mmap, .file_system = &files}));
    Insist(frame.Refresh().status());
    constexpr int kTimes = 100000;
    files.Reset();
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < kTimes; ++i) Insist(frame.Refresh().status());
    std::printf("%-23s %12.0f %12.4f\n", use_mmap ? "  mapped" : "  without a map",
                1000 * MicrosecondsSince(start) / kTimes,
                static_cast<double>(files.counts().calls) / kTimes);
  }
}

void MeasureOpen(const std::string& path, int64_t most) {
  std::printf("\nOpening%12s %14s %16s %12s\n", "batches", "open, us", "OpenWriter, us", "calls");
  for (const int64_t nbatches : {0, 1000, 10000, 65000}) {
    if (nbatches > most) break;
    LeaveJournal(path, nbatches);
    std::vector<double> opens;
    CountingFileSystem files;
    for (int i = 0; i < 9; ++i) {
      files.Reset();
      Clock::time_point start = Clock::now();
      Frame frame = Take(Frame::Open(path, {.file_system = &files}));
      opens.push_back(MicrosecondsSince(start));
      if (i < 8) continue;
      std::printf("%19lld %14.0f", static_cast<long long>(nbatches), Percentile(opens, 0.5));
      const int64_t calls = files.counts().calls;
      start = Clock::now();
      const Writer writer = Take(frame.OpenWriter());
      std::printf(" %16.0f %12lld\n", MicrosecondsSince(start), static_cast<long long>(calls));
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  const int64_t most = argc > 1 ? std::atoll(argv[1]) : 1000000;
  const std::string directory = argc > 2 ? argv[2] : ".";
  const std::string path = directory + "/journal-cost.b2frame";
  cairn::bench::MeasureAppends(path, 4096, 4096, most);
  cairn::bench::MeasureAppends(path, 100, 1 << 20, most);
  cairn::bench::MeasureDurableCommits(directory);
  cairn::bench::MeasureRefresh(path);
  cairn::bench::MeasureOpen(path, most);
  return 0;
}
