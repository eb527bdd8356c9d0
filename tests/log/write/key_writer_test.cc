// Keys of logs: what codes and texts are refused, and what a commit writes of them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "engine/log/keys/key_table.h"
#include "tests/support/little_endian.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using test::LittleEndian;
using test::TempDir;

Schema HostSchema() {
  return Schema::Make({*Schema::ParseField("time:timestamp[s]"), *Schema::ParseField("host:text")})
      .value();
}

std::vector<std::byte> RecordOf(int64_t time, uint32_t code) {
  const LittleEndian<int64_t> first = time;
  const LittleEndian<uint32_t> second = code;
  std::vector<std::byte> record(12);
  std::memcpy(record.data(), &first, 8);
  std::memcpy(record.data() + 8, &second, 4);
  return record;
}

class KeyWriterTest : public testing::Test {
 protected:
  KeyWriterTest()
      : log_(Log::Create(temp_.Path("log"), {.schema = HostSchema()}).value()),
        writer_(log_.OpenWriter({}).value()) {}

  absl::Status SetLayer(std::string_view name, const std::vector<std::byte>& content) {
    absl::Status closed = writer_.Close();
    if (!closed.ok()) return closed;
    Frame frame = Frame::Open(temp_.Path("log")).value();
    Writer writer = frame.OpenWriter().value();
    closed = writer.SetVlmetalayer(name, content);
    return closed.ok() ? writer.Close() : closed;
  }
  absl::StatusCode CodeOfOpening() { return Log::Open(temp_.Path("log")).status().code(); }

  TempDir temp_;
  Log log_;
  LogWriter writer_;
};

TEST_F(KeyWriterTest, TextsThatCannotBeKeysAreRefused) {
  const std::string texts[] = {
      std::string("a\0b", 3), std::string(65'536, 'x'), "\xff",     "\xc3",
      "\xed\xa0\x80",         "\xf4\x90\x80\x80",       "\xc0\x80", "a\xe2\x82"};
  for (const std::string& text : texts) {
    EXPECT_EQ(writer_.CodeOf("host", text).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(writer_.CodeOf("time", "a").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(writer_.CodeOf("hosts", "a").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(writer_.CodeOf("host", "").value(), 0);
  EXPECT_EQ(writer_.CodeOf("host", "ä€😀").value(), 1);
  EXPECT_EQ(writer_.CodeOf("host", std::string(65'535, 'x')).value(), 2);
}

TEST_F(KeyWriterTest, CodesWithoutATextAreRefused) {
  EXPECT_EQ(writer_.Append(RecordOf(1, 1)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(writer_.CodeOf("host", "a").value(), 1);
  EXPECT_TRUE(IsOk(writer_.Append(RecordOf(1, 1))));
  EXPECT_EQ(writer_.Append(RecordOf(2, 2)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(writer_.end_record(), 1);
}

TEST_F(KeyWriterTest, TheDictionaryHasALimit) {
  int64_t bytes = 0;
  for (int i = 0;; ++i) {
    const std::string text = absl::StrFormat("%d %s", i, std::string(60'000, 'x'));
    const absl::StatusOr<uint32_t> code = writer_.CodeOf("host", text);
    if (!code.ok()) {
      EXPECT_EQ(code.status().code(), absl::StatusCode::kResourceExhausted);
      break;
    }
    ASSERT_TRUE(IsOk(writer_.Append(RecordOf(i, *code))));
    bytes += std::ssize(text);
    ASSERT_LT(bytes, log::kMaxKeyBytes);
  }
  EXPECT_GT(bytes, log::kMaxKeyBytes - 70'000);
  ASSERT_TRUE(IsOk(writer_.Close()));
  EXPECT_EQ(CodeOfOpening(), absl::StatusCode::kOk);
}

TEST_F(KeyWriterTest, ACommitWithoutNewTextsWritesNoTable) {
  for (int i = 0; i < 300; ++i) {
    const uint32_t code = writer_.CodeOf("host", absl::StrFormat("some host %d", i)).value();
    ASSERT_TRUE(IsOk(writer_.Append(RecordOf(i, code))));
  }
  ASSERT_TRUE(IsOk(writer_.Checkpoint()));
  const auto journal = [this] { return log_.Refresh()->frames().back().info().journal_size; };
  ASSERT_TRUE(IsOk(writer_.Append(RecordOf(1000, 7))));
  ASSERT_TRUE(IsOk(writer_.Commit()));
  const int64_t first = journal();
  ASSERT_TRUE(IsOk(writer_.Append(RecordOf(1001, writer_.CodeOf("host", "some host 5").value()))));
  ASSERT_TRUE(IsOk(writer_.Commit()));
  EXPECT_LT(journal() - first, 200);
}

TEST_F(KeyWriterTest, HostileTablesAreRefused) {
  ASSERT_TRUE(IsOk(writer_.Append(RecordOf(1, writer_.CodeOf("host", "a").value()))));
  ASSERT_TRUE(IsOk(writer_.Commit()));
  log::KeyTable table;
  table.Add({.field = 0, .text = "a"});
  table.Add({.field = 0, .text = "a"});
  ASSERT_TRUE(IsOk(SetLayer(log::kKeyLayers[0], log::EncodeKeyTable(table))));
  EXPECT_EQ(CodeOfOpening(), absl::StatusCode::kDataLoss) << "a text that is there twice";
}

TEST_F(KeyWriterTest, TablesThatDoNotFollowEachOtherAreRefused) {
  log::KeyTable table = {.first = 5};
  table.Add({.field = 0, .text = "a"});
  ASSERT_TRUE(IsOk(SetLayer(log::kKeyLayers[0], log::EncodeKeyTable(table))));
  EXPECT_EQ(CodeOfOpening(), absl::StatusCode::kDataLoss);
}

TEST_F(KeyWriterTest, TextsOfAnotherFieldAreRefused) {
  log::KeyTable table;
  table.Add({.field = 1, .text = "a"});
  ASSERT_TRUE(IsOk(SetLayer(log::kKeyLayers[0], log::EncodeKeyTable(table))));
  EXPECT_EQ(CodeOfOpening(), absl::StatusCode::kDataLoss);
}

TEST_F(KeyWriterTest, RecordsWhoseTextsAreGoneAreDamaged) {
  ASSERT_TRUE(IsOk(writer_.Append(RecordOf(1, writer_.CodeOf("host", "a").value()))));
  ASSERT_TRUE(IsOk(writer_.Commit()));
  ASSERT_TRUE(IsOk(SetLayer(log::kKeyLayers[0], log::EncodeKeyTable({}))));
  const LogSnapshot log = Log::Open(temp_.Path("log"))->snapshot();
  EXPECT_EQ(log.Query({}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(log.Latest({.by = {"host"}}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(log.Aggregate({.by = {"host"}}).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(KeyWriterTest, KeysAreFieldsOfNoNumbers) {
  const LogSnapshot log = log_.snapshot();
  EXPECT_EQ(log.Aggregate({.fields = {"host"}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(log.Aggregate({.measures = {{.field = "host"}}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(log.Query({.filters = {"host > 5"}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(log.Latest({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Log::Create(temp_.Path("other"), {.schema = HostSchema(), .time_field = "host"})
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace cairn
