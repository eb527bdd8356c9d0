// Fields that are added to a log: which are refused, and that the rest of the log stays.
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "engine/log/state/log_core.h"
#include "tests/log/sensor_log.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using test::Readings;
using test::SensorOptions;
using test::TempDir;

Field Parsed(const std::string& text) { return Schema::ParseField(text).value(); }

TEST(AddedFieldTest, EmptyLogsGetFieldsThatAllRecordsHave) {
  for (const bool many_files : {false, true}) {
    TempDir temp;
    LogCreateOptions options = SensorOptions();
    if (many_files) options.rotation.period = 3000;
    Log log = Log::Create(temp.Path("log"), options).value();
    ASSERT_TRUE(IsOk(log.AddField(Parsed("level:i4"), std::chrono::milliseconds(0))));
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(std::vector<std::byte>(24))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    EXPECT_EQ(writer.snapshot().FirstWithValue("level").value(), 0);
    EXPECT_EQ(writer.snapshot().FirstWithValue("temp").value(), 0);
  }
}

TEST(AddedFieldTest, FieldsThatCannotBeAreRefusedAndChangeNothing) {
  for (const bool many_files : {false, true}) {
    TempDir temp;
    LogCreateOptions options = SensorOptions();
    if (many_files) options.rotation.period = 3000;
    Log log = Log::Create(temp.Path("log"), options).value();
    LogWriter writer = log.OpenWriter({}).value();
    ASSERT_TRUE(IsOk(writer.Append(Readings(250))));
    EXPECT_EQ(writer.AddField(Parsed("temp:f4")).code(), absl::StatusCode::kAlreadyExists);
    EXPECT_EQ(writer.AddField({.name = "", .size = 4}).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(writer.AddField(Parsed("all:bytes[65520]")).code(),
              absl::StatusCode::kInvalidArgument);
    ASSERT_TRUE(IsOk(writer.Append(Readings(250, 250))));
    // Another handle cannot change the fields while there is a writer.
    Log other = Log::Open(temp.Path("log")).value();
    EXPECT_EQ(other.AddField(Parsed("level:i4"), std::chrono::milliseconds(0)).code(),
              absl::StatusCode::kUnavailable);
    ASSERT_TRUE(IsOk(writer.Close()));
    EXPECT_EQ(other.Refresh()->schema(), test::SensorSchema());
    EXPECT_EQ(other.snapshot().nrecords(), 500);
  }
}

TEST(AddedFieldTest, NamesThatAreNotUtf8AreRefusedInNewLogsAndRead) {
  TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.schema = Schema::Make({Parsed("\xff:f4")}).value();
  options.time_field = "";
  EXPECT_TRUE(Fails(Log::Create(temp.Path("new"), options), absl::StatusCode::kInvalidArgument,
                    "field '\\377': a name that is not UTF-8"));
  ASSERT_TRUE(IsOk(log::CreateLogFrame(temp.Path("old"), options, 0, {})));
  Log log = Log::Open(temp.Path("old")).value();
  EXPECT_EQ(log.snapshot().schema(), options.schema);
  EXPECT_TRUE(Fails(log.AddField(Parsed("\xfe:f4"), std::chrono::milliseconds(0)),
                    absl::StatusCode::kInvalidArgument, "not UTF-8"));
  EXPECT_TRUE(IsOk(log.AddField(Parsed("\xc3\xa9:f4"), std::chrono::milliseconds(0))));
}

TEST(AddedFieldTest, ATimestampDoesNotBecomeTheTimeOfALogWithoutOne) {
  TempDir temp;
  LogCreateOptions options;
  options.schema = Schema::Make({Parsed("count:i4")}).value();
  Log log = Log::Create(temp.Path("log"), options).value();
  EXPECT_EQ(log.AddField(Parsed("seen:timestamp[s]"), std::chrono::milliseconds(0)).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(IsOk(log.AddField(Parsed("level:i4"), std::chrono::milliseconds(0))));
  EXPECT_EQ(log.snapshot().time_field(), nullptr);
}

TEST(AddedFieldTest, WhatUsersStoredInTheFrameStays) {
  TempDir temp;
  LogCreateOptions options = SensorOptions();
  options.retention.max_records = 5000;
  Log log = Log::Create(temp.Path("log"), options).value();
  const std::vector<std::byte> note = {std::byte{'n'}, std::byte{'o'}};
  {
    Frame frame = Frame::Open(temp.Path("log")).value();
    Writer writer = frame.OpenWriter().value();
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("note", note)));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  ASSERT_TRUE(IsOk(log.AddField(Parsed("level:i4"), std::chrono::milliseconds(0))));
  const LogSnapshot now = log.Refresh().value();
  EXPECT_EQ(now.frames().front().GetVlmetalayer("note").value(), note);
  EXPECT_EQ(now.retention().max_records, 5000);
  EXPECT_FALSE(Frame::Open(temp.Path("log.fields")).ok());
}

TEST(AddedFieldTest, ALeftoverOfAWriterThatDiedIsReplaced) {
  TempDir temp;
  Log log = Log::Create(temp.Path("log"), SensorOptions()).value();
  ASSERT_TRUE(IsOk(Frame::Create(temp.Path("log.fields"))));
  ASSERT_TRUE(IsOk(log.AddField(Parsed("level:i4"), std::chrono::milliseconds(0))));
  EXPECT_NE(log.snapshot().schema().Find("level"), nullptr);
}

// Files of different records in one directory must not be read as if they had the same.
TEST(AddedFieldTest, FilesWithOtherFieldsAreRefused) {
  for (const char* text : {"count:i8", "other:f8"}) {
    TempDir temp;
    LogCreateOptions options = SensorOptions();
    options.rotation.period = 3000;
    ASSERT_TRUE(IsOk(Log::Create(temp.Path("log"), options)));
    options.rotation = {};
    options.schema = Schema::Make({Parsed("time:timestamp[us]"), Parsed(text)}).value();
    ASSERT_TRUE(IsOk(Log::Create(temp.Path("log/log.000001.b2frame"), options)));
    EXPECT_EQ(Log::Open(temp.Path("log")).status().code(), absl::StatusCode::kDataLoss) << text;
  }
}

}  // namespace
}  // namespace cairn
