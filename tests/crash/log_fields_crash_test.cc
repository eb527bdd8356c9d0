// Crashes while fields are added to a log with keys of text: afterwards it has the field or not,
// with all records that were committed and their texts, and its next writer can add the field.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/dice.h"
#include "tests/support/search.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

// Record n has the time 10 n, a key that some records share, and in each field after that the
// number n, from the record on that the field was added at.
class WideningLife {
 public:
  WideningLife(uint64_t seed, bool many_files)
      : dice_(seed), disk_(std::make_unique<SimulatedDisk>(seed)) {
    LogCreateOptions options = SensorOptions();
    std::vector<Field> fields = options.schema.fields();
    fields.push_back(*Schema::ParseField("host:text"));
    options.schema = Schema::Make(fields).value();
    options.file_system = disk_->root();
    if (many_files) options.rotation.max_bytes = 6000;
    EXPECT_TRUE(IsOk(Log::Create("log", options)));
  }

  void Run() {
    for (int process = 0; process < 5 && !testing::Test::HasFailure(); ++process) {
      SCOPED_TRACE(testing::Message() << "process " << process);
      disk_->DieAt(disk_->operations() + 1 + static_cast<int64_t>(dice_.Below(200)), dice_);
      Write().IgnoreError();  // it dies
      killed_ = dice_.Percent(40);
      disk_ = killed_ ? disk_->Clone() : disk_->PowerLoss(dice_);
      disk_->Revive();
      ASSERT_NO_FATAL_FAILURE(Examine());
    }
  }

 private:
  static std::string HostOf(int64_t record) { return absl::StrFormat("host %d", record / 5); }
  static Field FieldOf(size_t number) {
    return Schema::ParseField(absl::StrFormat("f%d:i4", number)).value();
  }

  absl::Status Write() {
    absl::StatusOr<Log> log = Log::Open("log", {.file_system = disk_->root()});
    if (!log.ok()) return log.status();
    const auto durability = dice_.Percent(50) ? Durability::kMachine : Durability::kProcess;
    absl::StatusOr<LogWriter> writer = log->OpenWriter({.durability = durability});
    if (!writer.ok()) return writer.status();
    for (int i = 0; i < 40; ++i) {
      if (dice_.Percent(15)) {
        adding_ = true;
        if (absl::Status status = writer->AddField(FieldOf(begins_.size())); !status.ok()) {
          return status;
        }
        adding_ = false;
        begins_.push_back(written_);
        durable_fields_ = begins_.size();
        durable_ = committed_;
      }
      const auto count = 1 + static_cast<int64_t>(dice_.Below(dice_.Percent(20) ? 150 : 10));
      if (absl::Status status = Append(*writer, count); !status.ok()) return status;
      if (durability == Durability::kMachine) durable_ = committed_;
    }
    absl::Status status = writer->Close();
    if (status.ok()) durable_ = committed_;
    return status;
  }

  absl::Status Append(LogWriter& writer, int64_t count) {
    std::vector<std::byte> batch;
    for (const Reading& reading : Readings(count, written_)) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(&reading);
      batch.insert(batch.end(), bytes, bytes + sizeof(Reading));
      const absl::StatusOr<uint32_t> code = writer.CodeOf("host", HostOf(reading.count));
      if (!code.ok()) return code.status();
      const LittleEndian<uint32_t> host = *code;
      const auto* const key = reinterpret_cast<const std::byte*>(&host);
      batch.insert(batch.end(), key, key + sizeof(host));
      for (size_t i = 0; i < begins_.size(); ++i) {
        const auto* const value = reinterpret_cast<const std::byte*>(&reading.count);
        batch.insert(batch.end(), value, value + sizeof(reading.count));
      }
    }
    if (absl::Status status = writer.Append(batch); !status.ok()) return status;
    written_ += count;
    if (absl::Status status = writer.Commit(); !status.ok()) return status;
    committed_ = written_;
    return absl::OkStatus();
  }

  void Examine() {
    const absl::StatusOr<Log> log = Log::Open("log", {.file_system = disk_->root()});
    ASSERT_TRUE(IsOk(log));
    const LogSnapshot found = log->snapshot();
    const int64_t end = found.end_record();
    EXPECT_GE(end, killed_ ? committed_ : durable_);
    ASSERT_LE(end, written_);
    const size_t fields = found.schema().fields().size() - 4;
    EXPECT_GE(fields, durable_fields_);
    ASSERT_LE(fields, begins_.size() + (adding_ ? 1 : 0));
    if (fields > begins_.size()) begins_.push_back(written_);
    begins_.resize(fields);
    for (int64_t& begin : begins_) begin = std::min(begin, end);
    std::vector<LittleEndian<int32_t>> column(static_cast<size_t>(end));
    for (size_t i = 0; i < fields; ++i) {
      const std::string name = FieldOf(i).name;
      ASSERT_EQ(found.FirstWithValue(name).value(), begins_[i]) << name;
      ASSERT_TRUE(IsOk(found.ReadColumn(name, 0, column)));
      for (int64_t n = 0; n < end; ++n) {
        const int32_t expected = n < begins_[i] ? 0 : static_cast<int32_t>(n);
        ASSERT_EQ(column[static_cast<size_t>(n)], expected) << name << " of record " << n;
      }
    }
    ASSERT_TRUE(IsOk(found.ReadColumn("count", 0, column)));
    for (int64_t n = 0; n < end; ++n) ASSERT_EQ(column[static_cast<size_t>(n)], n);
    LogCursor cursor = found.Query({.fields = {"host"}, .order = LogOrder::kRecord}).value();
    int64_t next = 0;
    for (LogBatch batch = cursor.Next().value(); batch.size() > 0; batch = cursor.Next().value()) {
      const std::vector<std::string> hosts = batch.Column<std::string>("host").value();
      for (const std::string& host : hosts) {
        ASSERT_EQ(host, HostOf(next)) << "record " << next;
        ++next;
      }
    }
    ASSERT_EQ(next, end);
    const absl::StatusOr<std::vector<std::string>> wrong = found.VerifyStatistics();
    ASSERT_TRUE(IsOk(wrong));
    EXPECT_EQ(*wrong, std::vector<std::string>());
    adding_ = false;
    written_ = committed_ = end;
    if (!killed_) durable_ = end;
    if (!killed_) durable_fields_ = fields;
  }

  Dice dice_;
  std::unique_ptr<SimulatedDisk> disk_;
  std::vector<int64_t> begins_;  // numbers of the first records with these fields
  bool adding_ = false;
  size_t durable_fields_ = 0;
  int64_t written_ = 0;
  int64_t committed_ = 0;
  int64_t durable_ = 0;
  bool killed_ = false;
};

TEST(LogFieldsCrashTest, LogsOfOneFileHaveTheFieldOrNot) {
  ForEachSeed(150, [](uint64_t seed) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    WideningLife(seed, /*many_files=*/false).Run();
  });
}

TEST(LogFieldsCrashTest, LogsOfManyFilesHaveTheFieldOrNot) {
  ForEachSeed(150, [](uint64_t seed) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    WideningLife(seed, /*many_files=*/true).Run();
  });
}

}  // namespace
}  // namespace cairn::test
