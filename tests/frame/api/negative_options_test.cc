// Tests that no call takes an option that is a count, a size or a span and less than 0.
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

struct Refusal {
  std::string_view name;  // of the option, as the message has it
  std::function<absl::Status()> call;
};

void ExpectRefusals(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    const absl::Status status = refusal.call();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << refusal.name << ": " << status;
    const std::string text = std::string(refusal.name) + ": expected 0 or more, got -1";
    EXPECT_NE(status.message().find(text), std::string_view::npos)
        << refusal.name << ": " << status;
  }
}

TEST(NegativeOptionsTest, AreRefusedByFrames) {
  const TempDir dir;
  const std::string path = dir.Path("f");
  ASSERT_TRUE(IsOk(Frame::Create(path, PlainCopies(64))));
  Frame frame = *Frame::Open(path);
  const auto open = [&](const OpenOptions& options) { return Frame::Open(path, options).status(); };
  const auto write = [&](const WriterOptions& options) {
    return frame.OpenWriter(options).status();
  };
  constexpr std::chrono::milliseconds kWait{-1};
  ExpectRefusals({
      {"max_mapped_files", [&] { return open({.max_mapped_files = -1}); }},
      {"cache_memory", [&] { return open({.cache_memory = -1}); }},
      {"limits.max_chunk_nbytes", [&] { return open({.limits = {.max_chunk_nbytes = -1}}); }},
      {"limits.max_metadata_nbytes", [&] { return open({.limits = {.max_metadata_nbytes = -1}}); }},
      {"limits.max_nchunks", [&] { return open({.limits = {.max_nchunks = -1}}); }},
      {"limits.max_decode_memory", [&] { return open({.limits = {.max_decode_memory = -1}}); }},
      {"wait", [&] { return write({.wait = kWait}); }},
      {"max_file_size", [&] { return write({.max_file_size = -1}); }},
      {"staged_memory", [&] { return write({.staged_memory = -1}); }},
      {"wait", [&] { return frame.Compact({.wait = kWait}).status(); }},
      {"limit", [&] { return frame.History({.limit = -1}).status(); }},
  });
}

TEST(NegativeOptionsTest, AreRefusedByLogs) {
  const TempDir dir;
  const std::string path = dir.Path("log");
  const LogCreateOptions created = {
      .schema = Schema::Make({{.name = "t", .type = FieldType::kInt, .size = 8}}).value(),
      .time_field = "t"};
  Log log = Log::Create(path, created).value();
  const LogSnapshot snapshot = log.snapshot();
  const auto write = [&](const LogWriterOptions& options) {
    return log.OpenWriter(options).status();
  };
  const auto create = [&](const std::function<void(LogCreateOptions&)>& change) {
    LogCreateOptions options = created;
    change(options);
    return Log::Create(dir.Path("other"), options).status();
  };
  constexpr std::chrono::milliseconds kTime{-1};
  ExpectRefusals({
      {"commit_records", [&] { return write({.commit_records = -1}); }},
      {"commit_interval", [&] { return write({.commit_interval = kTime}); }},
      {"reorder_window", [&] { return write({.reorder_window = -1}); }},
      {"max_buffered_bytes", [&] { return write({.max_buffered_bytes = -1}); }},
      {"wait", [&] { return write({.wait = kTime}); }},
      {"chunksize", [&] { return create([](LogCreateOptions& o) { o.chunksize = -1; }); }},
      {"max_age", [&] { return create([](LogCreateOptions& o) { o.retention.max_age = -1; }); }},
      {"max_records",
       [&] { return create([](LogCreateOptions& o) { o.retention.max_records = -1; }); }},
      {"retention: max_bytes",
       [&] { return create([](LogCreateOptions& o) { o.retention.max_bytes = -1; }); }},
      {"rotation: max_bytes",
       [&] { return create([](LogCreateOptions& o) { o.rotation.max_bytes = -1; }); }},
      {"period", [&] { return create([](LogCreateOptions& o) { o.rotation.period = -1; }); }},
      {"limit", [&] { return snapshot.Query({.limit = -1}).status(); }},
      {"bucket", [&] { return snapshot.Aggregate({.bucket = -1}).status(); }},
      {"span", [&] { return snapshot.Last(-1).status(); }},
  });
}

TEST(NegativeOptionsTest, LogOfRecordsWithoutFieldsIsNotMade) {
  const TempDir dir;
  const Schema schema = Schema::FromDtype("<f8", 8).value();
  const absl::Status status = Log::Create(dir.Path("log"), {.schema = schema}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

}  // namespace
}  // namespace cairn::test
