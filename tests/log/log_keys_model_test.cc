// Random logs with keys of text, beside a plain model: codes, conditions, groups, the latest record
// of each key, rotation, retention, deletion, and keys that are added later.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/support/dice.h"
#include "tests/support/little_endian.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using test::LittleEndian;
using test::TempDir;

struct KeyedRow {
  int64_t time = 0;
  std::string host;
  std::optional<std::string> status = {};  // none if the record is older than the field
  int32_t count = 0;
  bool deleted = false;
};

class KeyedLog {
 public:
  KeyedLog(LogCreateOptions options, uint64_t seed) : dice_(seed) {
    options.schema =
        Schema::Make({*Schema::ParseField("time:timestamp[us]"), *Schema::ParseField("host:text"),
                      *Schema::ParseField("count:i4")})
            .value();
    options.chunksize = 1600;
    log_.emplace(Log::Create(temp_.Path("log"), options).value());
    reader_.emplace(Log::Open(temp_.Path("log")).value());
    writer_.emplace(log_->OpenWriter({}).value());
  }

  void AddStatus() {
    ASSERT_TRUE(IsOk(writer_->AddField(*Schema::ParseField("status:text"))));
    has_status_ = true;
  }

  void Reopen() {
    writer_.reset();
    writer_.emplace(log_->OpenWriter({}).value());
  }

  // Appends some records. With `wide`, most of them have a key that none had before.
  void Append(int64_t count, bool wide) {
    std::vector<std::byte> bytes;
    std::vector<KeyedRow> batch;
    for (int64_t i = 0; i < count; ++i) {
      now_ += Upto(20);
      KeyedRow row = {.time = dice_.Percent(5) ? now_ - Upto(3000) : now_, .host = SomeHost(wide)};
      row.count = static_cast<int32_t>(Upto(50));
      if (has_status_) row.status = dice_.Percent(20) ? "" : absl::StrFormat("s%d", Upto(4));
      Put(bytes, LittleEndian<int64_t>(row.time));
      Put(bytes, LittleEndian<uint32_t>(writer_->CodeOf("host", row.host).value()));
      Put(bytes, LittleEndian<int32_t>(row.count));
      if (has_status_) {
        Put(bytes, LittleEndian<uint32_t>(writer_->CodeOf("status", *row.status).value()));
      }
      batch.push_back(row);
    }
    ASSERT_TRUE(IsOk(writer_->Append(bytes)));
    ASSERT_TRUE(IsOk(writer_->Commit()));
    std::ranges::stable_sort(batch, {}, &KeyedRow::time);
    rows_.insert(rows_.end(), batch.begin(), batch.end());
  }

  void Delete() {
    const std::string host = SomeHost(false);
    const std::string filter = absl::StrFormat("host == '%s' and count < 20", host);
    ASSERT_TRUE(IsOk(writer_->Delete({.filters = {filter}})));
    for (KeyedRow& row : Kept()) {
      if (row.host == host && row.count < 20) row.deleted = true;
    }
  }

  void Check() {
    const LogSnapshot log = log_->Refresh().value();
    ASSERT_EQ(log.end_record(), std::ssize(rows_));
    CheckAll(log);
    for (int i = 0; i < 10; ++i) CheckQuery(log);
    CheckGroups(log, {"host"});
    if (has_status_) CheckGroups(log, {"status", "host"});
    for (int i = 0; i < 4; ++i) CheckLatest(log);
    EXPECT_EQ(log.VerifyStatistics().value(), std::vector<std::string>());
    if (dice_.Percent(50)) return;
    for (int i = 0; i < 100 && reader_->snapshot().schema() != log.schema(); ++i) {
      ASSERT_TRUE(IsOk(
          reader_->WaitForCommit(reader_->snapshot(), std::chrono::milliseconds(50)).status()));
    }
    CheckAll(reader_->Refresh().value());
    CheckAll(Log::Open(temp_.Path("log"))->snapshot());
  }

  LogWriter& writer() { return *writer_; }
  Log& log() { return *log_; }

 private:
  int64_t Upto(int64_t limit) {
    return static_cast<int64_t>(dice_.Below(static_cast<size_t>(limit)));
  }
  std::string SomeHost(bool wide) {
    if (dice_.Percent(3)) return "";
    if (dice_.Percent(5))
      return "ein sehr langer Name für einen Rechner, der in keinem Feld Platz hat";
    return absl::StrFormat("host-%d", Upto(wide ? 1'000'000 : 12));
  }
  template <typename T>
  static void Put(std::vector<std::byte>& bytes, const T& value) {
    const auto* const at = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), at, at + sizeof(T));
  }
  std::span<KeyedRow> Kept() {
    return std::span(rows_).subspan(static_cast<size_t>(log_->Refresh()->first_record()));
  }

  void CheckAll(const LogSnapshot& log) {
    LogQuery query = {.fields = {"host", "count"}, .order = LogOrder::kRecord};
    if (has_status_) query.fields.emplace_back("status");
    LogCursor cursor = log.Query(query).value();
    int64_t found = 0;
    for (LogBatch batch = cursor.Next().value(); batch.size() > 0; batch = cursor.Next().value()) {
      found += batch.size();
      const std::vector<std::string> hosts = batch.Column<std::string>("host").value();
      const std::vector<int32_t> counts = batch.Column<int32_t>("count").value();
      std::vector<std::string> statuses(hosts.size());
      if (has_status_) statuses = batch.Column<std::string>("status").value();
      for (size_t i = 0; i < hosts.size(); ++i) {
        const KeyedRow& row = rows_[static_cast<size_t>(batch.records[i])];
        ASSERT_EQ(hosts[i], row.host) << "record " << batch.records[i];
        ASSERT_EQ(counts[i], row.count);
        if (!has_status_) continue;
        ASSERT_EQ(statuses[i], row.status.value_or(""));
        ASSERT_EQ(batch.HasValue(2, i), row.status.has_value());
      }
    }
    ASSERT_EQ(found, std::ranges::count(Kept(), false, &KeyedRow::deleted));
  }

  static bool Holds(const std::string& sign, const std::optional<std::string>& a,
                    const std::string& b) {
    if (!a.has_value()) return sign == "!=";
    if (sign == "==") return *a == b;
    if (sign == "!=") return *a != b;
    return sign == "<" ? *a < b : *a >= b;
  }

  void CheckQuery(const LogSnapshot& log) {
    const bool of_status = has_status_ && dice_.Percent(50);
    const std::string wanted =
        of_status ? absl::StrFormat("s%d", Upto(5)) : SomeHost(dice_.Percent(20));
    const std::string signs[] = {"==", "!=", "<", ">="};
    const std::string sign = signs[Upto(4)];
    const bool negated = dice_.Percent(30);
    const std::string test =
        absl::StrFormat("%s %s '%s'", of_status ? "status" : "host", sign, wanted);
    const LogQuery query = {.fields = {"time"},
                            .filters = {negated ? "not " + test : test},
                            .order = LogOrder::kRecord};
    LogCursor cursor = log.Query(query).value();
    std::vector<int64_t> found;
    for (LogBatch batch = cursor.Next().value(); batch.size() > 0; batch = cursor.Next().value()) {
      found.insert(found.end(), batch.records.begin(), batch.records.end());
    }
    std::vector<int64_t> expected;
    for (int64_t i = log.first_record(); i < std::ssize(rows_); ++i) {
      const KeyedRow& row = rows_[static_cast<size_t>(i)];
      const bool holds = Holds(sign, of_status ? row.status : std::optional(row.host), wanted);
      if (!row.deleted && holds != negated) expected.push_back(i);
    }
    ASSERT_EQ(found, expected) << query.filters[0];
  }

  // The values of the fields of a key, as groups have them.
  std::vector<FieldValue> KeyOf(const KeyedRow& row, const std::vector<std::string>& by) const {
    std::vector<FieldValue> key;
    for (const std::string& field : by) {
      if (field == "count") {
        key.emplace_back(int64_t{row.count});
      } else if (field == "host") {
        key.emplace_back(row.host);
      } else if (row.status.has_value()) {
        key.emplace_back(*row.status);
      } else {
        key.emplace_back(std::monostate());
      }
    }
    return key;
  }

  void CheckGroups(const LogSnapshot& log, const std::vector<std::string>& by) {
    std::map<std::vector<FieldValue>, std::pair<int64_t, int64_t>> expected;
    for (const KeyedRow& row : Kept()) {
      if (row.deleted) continue;
      auto& [records, sum] = expected[KeyOf(row, by)];
      ++records;
      sum += row.count;
    }
    const std::vector<LogBucket> found = log.Aggregate({.fields = {"count"}, .by = by}).value();
    ASSERT_EQ(found.size(), expected.size());
    auto next = expected.begin();
    for (const LogBucket& group : found) {
      ASSERT_EQ(group.group, next->first);
      ASSERT_EQ(group.records, next->second.first);
      ASSERT_EQ(group.wholes[0].sum, next->second.second);
      ++next;
    }
  }

  void CheckLatest(const LogSnapshot& log) {
    LogLatest wanted = {.by = {"host"}, .fields = {"count"}};
    if (dice_.Percent(30)) wanted.by = {"count"};
    if (has_status_ && dice_.Percent(40)) wanted.by.insert(wanted.by.begin(), "status");
    const bool filtered = dice_.Percent(40);
    if (filtered) wanted.filters = {"count >= 10"};
    if (dice_.Percent(40)) wanted.times.end = Upto(now_ + 1);
    std::map<std::vector<FieldValue>, int64_t> expected;
    for (int64_t i = log.first_record(); i < std::ssize(rows_); ++i) {
      const KeyedRow& row = rows_[static_cast<size_t>(i)];
      if (row.deleted || (filtered && row.count < 10) || row.time >= wanted.times.end) continue;
      auto [known, is_new] = expected.try_emplace(KeyOf(row, wanted.by), i);
      if (rows_[static_cast<size_t>(known->second)].time <= row.time) known->second = i;
    }
    const LogBatch found = log.Latest(wanted).value();
    ASSERT_EQ(found.size(), std::ssize(expected));
    const std::vector<int32_t> counts = found.Column<int32_t>("count").value();
    size_t i = 0;
    for (const auto& [key, record] : expected) {
      ASSERT_EQ(found.records[i], record);
      ASSERT_EQ(counts[i], rows_[static_cast<size_t>(record)].count);
      ++i;
    }
  }

  TempDir temp_;
  test::Dice dice_;
  std::optional<Log> log_;
  std::optional<Log> reader_;
  std::optional<LogWriter> writer_;
  std::vector<KeyedRow> rows_;
  bool has_status_ = false;
  int64_t now_ = 0;
};

TEST(LogKeysModel, TextsAreFoundWhateverIsAsked) {
  for (uint64_t seed = 1; seed <= 9 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LogCreateOptions options;
    if (seed % 2 == 0) options.rotation.period = 3000;
    if (seed % 3 == 0) options.retention.max_records = 700;
    KeyedLog model(options, seed);
    for (int i = 0; i < 8; ++i) {
      model.Append(i % 3 == 0 ? 250 : 40, seed % 4 == 1);
      if (i == 3) model.AddStatus();
      if (i % 3 == 1) model.Delete();
      if (i % 4 == 2) model.Reopen();
      model.Check();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(LogKeysModel, ManyTextsFillAllTables) {
  KeyedLog model({}, 1);
  for (int i = 0; i < 12; ++i) model.Append(4000, true);
  model.Check();
  const Snapshot frame = model.log().Refresh()->frames().back();
  EXPECT_GT(frame.GetVlmetalayer("cairn.log.keys2")->size(), size_t{256} << 10);
}

}  // namespace
}  // namespace cairn
