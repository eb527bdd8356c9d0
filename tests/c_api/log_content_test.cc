// Logs that C programs write are those that C++ programs read, and the other way round.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/cairn.h"
#include "cairn/cairn_log.h"
#include "cairn/file_system.h"
#include "cairn/files_handle.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "cairn/record.h"
#include "tests/support/little_endian.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

struct Logged {
  int64_t time;
  double temp;
  bool operator==(const Logged&) const = default;
};

constexpr char kLoggedDtype[] = "[('time', '<M8[ms]'), ('temp', '<f8')]";
constexpr std::array<Logged, 3> kLogged = {{{1, 20.5}, {2, 21.25}, {5, 19}}};

// A log in memory that C calls made.
class LogContentTest : public testing::Test {
 protected:
  LogContentTest() : memory_(MakeMemoryFileSystem()) {
    cairn_files* files = nullptr;
    EXPECT_EQ(ReturnFiles(memory_, &files, nullptr), CAIRN_OK);
    cairn_log_retention retention = {.struct_size = sizeof(cairn_log_retention),
                                     .max_age = 1000,
                                     .max_records = 2000,
                                     .max_bytes = 3000};
    cairn_log_create_options options = CAIRN_LOG_CREATE_OPTIONS_INIT;
    options.retention = &retention;
    options.codec = CAIRN_CODEC_ZSTD;
    options.clevel = 3;
    options.files = files;
    EXPECT_EQ(cairn_log_create("log", kLoggedDtype, &options, &log_, &status_), CAIRN_OK)
        << status_.message;
    cairn_files_free(files);
  }
  ~LogContentTest() override { cairn_log_free(log_); }

  std::shared_ptr<FileSystem> memory_;
  cairn_log* log_ = nullptr;
  cairn_status status_;
};

TEST_F(LogContentTest, UpsertsGoByTheTextsUnlessAKeyIsNamed) {
  struct Row {
    test::LittleEndian<int64_t> time;
    test::LittleEndian<uint32_t> host;
  };
  const test::TempDir temp;
  LogCreateOptions options;
  options.schema =
      *Schema::Make({*Schema::ParseField("time:timestamp[ms]"), *Schema::ParseField("host:text")});
  Log log = Log::Create(temp.Path("log"), options).value();
  std::array<Row, 2> rows = {{{1, 0}, {1, 0}}};
  {
    LogWriter writer = log.OpenWriter({}).value();
    rows[1].host = writer.CodeOf("host", "b").value();
    ASSERT_TRUE(IsOk(writer.Append(std::span(rows))));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  cairn_log* read = nullptr;
  ASSERT_EQ(cairn_log_open(temp.Path("log").c_str(), nullptr, nullptr, &read, &status_), CAIRN_OK);
  cairn_log_writer* writer = nullptr;
  ASSERT_EQ(cairn_log_open_writer(read, nullptr, &writer, &status_), CAIRN_OK);
  const auto upsert = [&](const char* const* key) {
    EXPECT_EQ(
        cairn_log_writer_upsert(writer, rows.data(), sizeof rows[0], key, 0, nullptr, &status_),
        CAIRN_OK)
        << status_.message;
    return log.Refresh().value().nrecords();
  };
  EXPECT_EQ(upsert(nullptr), 2);
  const char* const no_names[] = {nullptr};
  EXPECT_EQ(upsert(no_names), 1);
  cairn_log_writer_free(writer);
  cairn_log_free(read);
}

TEST_F(LogContentTest, CppReadsWhatCWrites) {
  cairn_log_writer* writer = nullptr;
  ASSERT_EQ(cairn_log_open_writer(log_, nullptr, &writer, &status_), CAIRN_OK) << status_.message;
  EXPECT_EQ(cairn_log_writer_append(writer, kLogged.data(), sizeof kLogged, &status_), CAIRN_OK);
  EXPECT_EQ(cairn_log_writer_close(writer, &status_), CAIRN_OK);
  cairn_log_writer_free(writer);

  const LogSnapshot read = Log::Open("log", {.file_system = memory_}).value().snapshot();
  EXPECT_EQ(read.schema().ToDtype(), kLoggedDtype);
  EXPECT_EQ(read.time_field()->name, "time");
  EXPECT_EQ(read.retention(), (Retention{.max_age = 1000, .max_records = 2000, .max_bytes = 3000}));
  EXPECT_EQ(read.rotation(), Rotation());
  EXPECT_EQ(read.frames().front().info().codec, Codec::kZstd);
  EXPECT_EQ(read.frames().front().info().clevel, 3);
  std::array<Logged, 3> samples = {};
  ASSERT_TRUE(IsOk(read.ReadRecords(0, samples)));
  EXPECT_EQ(samples, kLogged);
  EXPECT_EQ(read.end_record(), 3);
}

TEST_F(LogContentTest, CReadsWhatCppWrites) {
  Log log = Log::Open("log", {.file_system = memory_}).value();
  LogWriter writer = log.OpenWriter({}).value();
  ASSERT_TRUE(IsOk(writer.Append(kLogged)));
  ASSERT_TRUE(IsOk(writer.Close()));

  cairn_log_snapshot* read = nullptr;
  std::array<Logged, 3> samples = {};
  ASSERT_EQ(cairn_log_refresh(log_, &read, &status_), CAIRN_OK) << status_.message;
  EXPECT_EQ(cairn_log_snapshot_read_records(read, 0, samples.data(), sizeof samples, &status_),
            CAIRN_OK);
  EXPECT_EQ(samples, kLogged);
  cairn_log_snapshot_free(read);
}

TEST_F(LogContentTest, HandlesOutliveTheLogAndItsFiles) {
  const std::weak_ptr<FileSystem> memory = memory_;
  memory_.reset();
  cairn_log_writer* writer = nullptr;
  cairn_log_snapshot* snapshot = nullptr;
  cairn_log_cursor* cursor = nullptr;
  cairn_log_batch* batch = nullptr;
  EXPECT_EQ(cairn_log_open_writer(log_, nullptr, &writer, &status_), CAIRN_OK);
  cairn_log_free(std::exchange(log_, nullptr));
  EXPECT_EQ(cairn_log_writer_append(writer, kLogged.data(), sizeof kLogged, &status_), CAIRN_OK);
  EXPECT_EQ(cairn_log_writer_commit(writer, &status_), CAIRN_OK);
  EXPECT_EQ(cairn_log_writer_snapshot(writer, &snapshot, &status_), CAIRN_OK);
  EXPECT_FALSE(memory.expired());
  cairn_log_writer_free(writer);
  EXPECT_EQ(cairn_log_snapshot_query(snapshot, nullptr, &cursor, &status_), CAIRN_OK);
  cairn_log_snapshot_free(snapshot);
  EXPECT_EQ(cairn_log_cursor_next(cursor, &batch, &status_), CAIRN_OK);
  EXPECT_EQ(cairn_log_batch_size(batch), 3);
  cairn_log_batch_free(batch);
  cairn_log_cursor_free(cursor);
  EXPECT_TRUE(memory.expired());
}

TEST(LogOptionsTest, DefaultsInCAreThoseOfCpp) {
  const LogCreateOptions create;
  const cairn_log_create_options c_create = CAIRN_LOG_CREATE_OPTIONS_INIT;
  EXPECT_EQ(static_cast<Codec>(c_create.codec), create.codec);
  EXPECT_EQ(c_create.clevel, create.clevel);
  EXPECT_EQ(c_create.chunksize, create.chunksize);

  const LogQuery query;
  const cairn_log_query_options c_query = CAIRN_LOG_QUERY_OPTIONS_INIT;
  EXPECT_EQ(c_query.begin, query.times.begin);
  EXPECT_EQ(c_query.end, query.times.end);
  EXPECT_EQ(static_cast<LogOrder>(c_query.order), query.order);
  EXPECT_EQ(c_query.limit, query.limit);

  const LogAggregation sums;
  const cairn_log_aggregate_options c_sums = CAIRN_LOG_AGGREGATE_OPTIONS_INIT;
  EXPECT_EQ(c_sums.begin, sums.times.begin);
  EXPECT_EQ(c_sums.end, sums.times.end);
  EXPECT_EQ(c_sums.bucket, sums.bucket);
  EXPECT_EQ(c_sums.origin, sums.origin);

  const LogWriterOptions writer;
  const cairn_log_writer_options c_writer = CAIRN_LOG_WRITER_OPTIONS_INIT;
  EXPECT_EQ(c_writer.commit_records, writer.commit_records);
  EXPECT_EQ(c_writer.commit_interval_ms, writer.commit_interval.count());
  EXPECT_EQ(static_cast<Durability>(c_writer.durability), writer.durability);
  EXPECT_EQ(c_writer.reorder_window, writer.reorder_window);
  EXPECT_EQ(c_writer.max_buffered_bytes, writer.max_buffered_bytes);
  EXPECT_EQ(c_writer.wait_ms, writer.wait.count());
}

}  // namespace
}  // namespace cairn
