// Measures what small commits leave in the file, and how many bytes they write for each byte given.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/frame.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/counting_files.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/data/small_chunks.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int32_t kRecord = 40;
constexpr int64_t kRecordBatch = 100;
constexpr int64_t kSmall = 64;

// Makes records of a logger: time, counter, and three measurements that change slowly.
class RecordSource {
 public:
  Bytes Next() {
    for (int64_t i = 0; i < kRecordBatch; ++i) Put(batch_.data() + i * kRecord);
    return batch_;
  }

 private:
  void Put(std::byte* at) {
    time_ += 1'000'000 + static_cast<int64_t>(Random() % 64);
    ++counter_;
    const int64_t whole[] = {time_, counter_};
    double measured[3];
    for (int i = 0; i < 3; ++i) {
      if (Random() % 8 == 0) level_[i] += static_cast<double>(Random() % 5) - 2;
      measured[i] = level_[i] / 16;
    }
    std::memcpy(at, whole, sizeof(whole));
    std::memcpy(at + sizeof(whole), measured, sizeof(measured));
  }
  uint64_t Random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  uint64_t random_ = 1;
  int64_t time_ = 1'700'000'000'000'000'000;
  int64_t counter_ = 0;
  double level_[3] = {300, 2000, -40};
  std::vector<std::byte> batch_ = std::vector<std::byte>(kRecordBatch * kRecord);
};

absl::StatusOr<int64_t> SizeOf(const std::string& path) {
  ASSIGN_OR_RETURN(const auto file, PosixFileSystem()->Open(path, FileMode::kRead));
  return file->Size();
}

CreateOptions SmallCommitOptions(int32_t chunksize, const CompressionOptions& compression,
                                 const std::shared_ptr<FileSystem>& files) {
  CreateOptions options;
  options.chunksize = chunksize;
  options.compression = compression;
  options.overwrite = true;
  options.file_system = files;
  return options;
}

absl::Status CommitRecords(const std::string& path, int32_t chunksize, int64_t records,
                           Session& session) {
  CompressionOptions compression;
  compression.codec = Codec::kZstd;
  compression.typesize = kRecord;
  const auto files = std::make_shared<CountingFileSystem>();
  ASSIGN_OR_RETURN(Frame frame,
                   Frame::Create(path, SmallCommitOptions(chunksize, compression, files)));
  files->Reset();
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  RecordSource source;
  std::vector<int64_t> sizes;  // sizes of the file while the second half is committed
  const int64_t commits = records / kRecordBatch;
  for (int64_t i = 0; i < commits; ++i) {
    RETURN_IF_ERROR(writer.Append(source.Next()));
    RETURN_IF_ERROR(writer.Commit(Durability::kProcess).status());
    if (i < commits / 2 || i % 100 != 0) continue;
    ASSIGN_OR_RETURN(sizes.emplace_back(), SizeOf(path));
  }
  RETURN_IF_ERROR(writer.Close());
  const Counts counts = files->counts();
  ASSIGN_OR_RETURN(const int64_t closed, SizeOf(path));
  ASSIGN_OR_RETURN(const CompactReport compacted, frame.Compact());
  const auto least = static_cast<double>(compacted.size_after);
  session.report.Note(absl::StrFormat(
      "%d records of %d bytes by %d, chunks of %d KiB: compacted %.1f MiB; closed %.2fx, largest "
      "in the second half %.2fx; %.2f bytes written for each given, %d checkpoints",
      records, kRecord, kRecordBatch, chunksize >> 10, least / kMiB,
      static_cast<double>(closed) / least,
      static_cast<double>(*std::ranges::max_element(sizes)) / least,
      static_cast<double>(counts.bytes_written) / static_cast<double>(records * kRecord),
      counts.header_writes));
  return absl::OkStatus();
}

absl::Status CommitBytes(const std::string& path, DataSet set, Durability durability,
                         int64_t commits, Session& session) {
  constexpr int32_t kChunk = 64 << 20;
  const auto files = std::make_shared<CountingFileSystem>();
  ASSIGN_OR_RETURN(Frame frame,
                   Frame::Create(path, SmallCommitOptions(kChunk, UsualCompression(set), files)));
  files->Reset();
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  DataSource source(set, 1 << 20);
  int64_t largest = 0;
  Bytes rest;
  for (int64_t i = 0; i < commits; ++i) {
    if (rest.empty()) rest = source.Next();
    RETURN_IF_ERROR(writer.Append(rest.first(kSmall)));
    rest = rest.subspan(kSmall);
    RETURN_IF_ERROR(writer.Commit(durability).status());
    if (i % 1000 != 0) continue;
    ASSIGN_OR_RETURN(const int64_t size, SizeOf(path));
    largest = std::max(largest, size);
  }
  RETURN_IF_ERROR(writer.Close());
  const auto given = static_cast<double>(commits * kSmall);
  session.report.Note(absl::StrFormat(
      "%d commits of %d bytes, data %s, %s, chunks of 64 MiB: %.2f bytes written for each given, "
      "%d checkpoints, file up to %.1f MiB",
      commits, kSmall, NameOf(set), durability == Durability::kMachine ? "kMachine" : "kProcess",
      static_cast<double>(files->counts().bytes_written) / given, files->counts().header_writes,
      static_cast<double>(largest) / kMiB));
  return absl::OkStatus();
}

// A frame of 0.6 MB, and cycles that open it, append 64 bytes and close it.
absl::Status OpenAndClose(const std::string& path, DataSet set, int64_t cycles, Session& session) {
  constexpr size_t kBegin = 600'000;
  const auto files = std::make_shared<CountingFileSystem>();
  DataSource source(set, kBegin);
  {
    ASSIGN_OR_RETURN(
        Frame made, Frame::Create(path, SmallCommitOptions(1 << 20, UsualCompression(set), files)));
    ASSIGN_OR_RETURN(Writer writer, made.OpenWriter());
    RETURN_IF_ERROR(writer.Append(source.Next()));
    RETURN_IF_ERROR(writer.Close());
  }
  files->Reset();
  int64_t largest = 0;
  for (int64_t i = 0; i < cycles; ++i) {
    OpenOptions options;
    options.file_system = files;
    ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, options));
    ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
    RETURN_IF_ERROR(writer.Append(source.Next().first(kSmall)));
    RETURN_IF_ERROR(writer.Close());
    ASSIGN_OR_RETURN(const int64_t size, SizeOf(path));
    largest = std::max(largest, size);
  }
  session.report.Note(absl::StrFormat(
      "%d cycles of open, append %d bytes, close, data %s: file up to %.2f MB, %.1f bytes written "
      "for each given, %d checkpoints",
      cycles, kSmall, NameOf(set), static_cast<double>(largest) / 1e6,
      static_cast<double>(files->counts().bytes_written) / static_cast<double>(cycles * kSmall),
      files->counts().header_writes));
  return absl::OkStatus();
}

absl::Status CloseLarge(const std::string& path, int64_t nchunks, Session& session) {
  RETURN_IF_ERROR(BuildSmallChunks(path, FingerprintType::k64Bit, nchunks));
  const auto files = std::make_shared<CountingFileSystem>();
  OpenOptions options;
  options.file_system = files;
  ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, options));
  ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter());
  RETURN_IF_ERROR(writer.Append(std::vector<std::byte>(kSmallChunk)));
  RETURN_IF_ERROR(writer.Close());
  session.report.Note(
      absl::StrFormat("open, append a chunk, close with %d chunks: %d bytes written", nchunks,
                      files->counts().bytes_written));
  return absl::OkStatus();
}

struct SmallCommitsSetting {
  int64_t records = 10'000'000;
  int64_t commits = 2'000'000;
  int64_t durable_commits = 1'100'000;
  int64_t cycles = 10'000;
  int64_t nchunks = 1'000'000;
};

absl::Status RunSmallCommits(Session& session, const SmallCommitsSetting& sizes) {
  const std::string path = session.PathFor("small");
  std::vector<std::function<absl::Status()>> runs;
  for (const int32_t chunksize : {1 << 20, 64 << 10}) {
    runs.emplace_back(
        [&, chunksize] { return CommitRecords(path, chunksize, sizes.records, session); });
  }
  for (const DataSet set : {DataSet::kA, DataSet::kC}) {
    runs.emplace_back(
        [&, set] { return CommitBytes(path, set, Durability::kProcess, sizes.commits, session); });
    runs.emplace_back([&, set] {
      return CommitBytes(path, set, Durability::kMachine, sizes.durable_commits, session);
    });
    runs.emplace_back([&, set] { return OpenAndClose(path, set, sizes.cycles, session); });
  }
  runs.emplace_back([&] { return CloseLarge(path, sizes.nchunks, session); });
  for (const auto& run : runs) {
    const absl::Status status = run();
    RemoveStore(path);
    RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

}  // namespace

void AddSmallCommits(CLI::App& app, Session& session) {
  CLI::App* const command = app.add_subcommand(
      "small-commits", "What small commits leave in the file, and how many bytes they write");
  const auto sizes = std::make_shared<SmallCommitsSetting>();
  command->add_option("--records", sizes->records, "Records of 40 bytes")->capture_default_str();
  command->add_option("--commits", sizes->commits, "kProcess commits of 64 bytes")
      ->capture_default_str();
  command->add_option("--durable-commits", sizes->durable_commits, "kMachine commits of 64 bytes")
      ->capture_default_str();
  command->add_option("--cycles", sizes->cycles, "Cycles of open, append, close")
      ->capture_default_str();
  command->add_option("--chunks", sizes->nchunks, "Chunks of the frame that is closed")
      ->capture_default_str();
  command->callback([sizes, &session] {
    session.run = [sizes, &session] { return RunSmallCommits(session, *sizes); };
  });
}

}  // namespace cairn::bench
