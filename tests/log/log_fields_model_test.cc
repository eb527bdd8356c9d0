// Fields that are added to random logs, beside a plain model.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tests/log/sensor_log.h"
#include "tests/support/dice.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

using test::SensorOptions;
using test::TempDir;

Field FieldOf(const std::string& text) { return Schema::ParseField(text).value(); }

// Numbers of all fields as doubles, texts as they are, nothing where a record has no value.
using Value = std::variant<std::monostate, double, std::string>;
struct Record {
  int64_t time = 0;
  std::vector<Value> values;  // of each field
  bool deleted = false;
};

class WideningLog {
 public:
  WideningLog(LogCreateOptions options, uint64_t seed) : dice_(seed) {
    log_.emplace(Log::Create(temp_.Path("log"), options).value());
    reader_.emplace(Log::Open(temp_.Path("log")).value());
    fields_ = options.schema.fields();
    writer_.emplace(log_->OpenWriter({}).value());
  }

  void AddField(const std::string& text) {
    const Field field = FieldOf(text);
    if (dice_.Percent(50)) {
      ASSERT_TRUE(IsOk(writer_->AddField(field)));
    } else {
      ASSERT_TRUE(IsOk(writer_->Close()));
      ASSERT_TRUE(IsOk(log_->AddField(field, std::chrono::milliseconds(0))));
      writer_.emplace(log_->OpenWriter({}).value());
    }
    fields_ = writer_->snapshot().schema().fields();
    ASSERT_EQ(fields_.back().name, field.name);
    for (Record& record : all_) record.values.resize(fields_.size());
  }

  void Append(int64_t count) {
    const Schema schema = writer_->snapshot().schema();
    std::vector<Record> batch;
    for (int64_t i = 0; i < count; ++i) {
      now_ += Upto(20);
      Record& record = batch.emplace_back();
      record.time = dice_.Percent(3) ? now_ - Upto(1000) : now_;
      for (const Field& field : fields_) record.values.push_back(SomeValue(field));
      record.values[0] = static_cast<double>(record.time);
    }
    std::vector<std::byte> bytes;
    for (const Record& record : batch) {
      const size_t at = bytes.size();
      bytes.resize(at + static_cast<size_t>(schema.record_size()));
      for (size_t i = 0; i < fields_.size(); ++i) {
        Store(fields_[i], record.values[i], bytes.data() + at + fields_[i].offset);
      }
    }
    ASSERT_TRUE(IsOk(writer_->Append(bytes)));
    ASSERT_TRUE(IsOk(writer_->Commit()));
    std::ranges::stable_sort(batch, {}, &Record::time);
    all_.insert(all_.end(), batch.begin(), batch.end());
  }

  void Delete() {
    const size_t field = Upto(std::ssize(fields_));
    const Test test = SomeTest(field);
    const auto begin = static_cast<int64_t>(Upto(now_ + 1));
    const auto span = static_cast<int64_t>(Upto(600));
    const LogSelection which = {.times = {.begin = begin, .end = begin + span},
                                .filters = {test.text}};
    const int64_t first = writer_->snapshot().first_record();
    for (int64_t i = first; i < std::ssize(all_); ++i) {
      Record& record = all_[static_cast<size_t>(i)];
      const bool in_time = record.time >= which.times.begin && record.time < which.times.end;
      if (in_time && test.Holds(record.values[field])) record.deleted = true;
    }
    ASSERT_TRUE(IsOk(writer_->Delete(which)));
  }

  void Check() {
    const LogSnapshot log = log_->Refresh().value();
    ASSERT_EQ(log.end_record(), std::ssize(all_));
    first_ = log.first_record();
    for (size_t i = 0; i < fields_.size(); ++i) CheckColumn(log, i);
    for (int i = 0; i < 12; ++i) CheckQuery(log);
    for (int i = 0; i < 8; ++i) CheckAggregate(log);
    for (int i = 0; i < 4; ++i) CheckGroups(log);
    const std::vector<std::string> wrong = log.VerifyStatistics().value();
    EXPECT_EQ(wrong, std::vector<std::string>());
  }

  // Checks that another handle, which saw the log before the field, sees the same as this one.
  void CheckReader() {
    // A file that takes the place of another one is noticed within a second.
    const LogSnapshot seen = reader_->snapshot();
    LogSnapshot now = seen;
    for (int i = 0; i < 100 && now.schema().fields().size() < fields_.size(); ++i) {
      now = reader_->WaitForCommit(now, std::chrono::milliseconds(50)).value();
    }
    ASSERT_EQ(now.schema(), writer_->snapshot().schema());
    ASSERT_EQ(now.end_record(), std::ssize(all_));
    std::swap(log_, reader_);
    Check();
    std::swap(log_, reader_);
    EXPECT_LE(seen.schema().fields().size(), fields_.size());
    // The state that was seen before stays as it is.
    std::vector<std::byte> times(static_cast<size_t>(seen.end_record() - seen.first_record()) * 8);
    EXPECT_TRUE(IsOk(seen.ReadColumn("time", seen.first_record(), times)));
  }

  Log& log() { return *log_; }
  int64_t size() const { return std::ssize(all_); }

 private:
  struct Test {
    std::string text;
    Comparison comparison = Comparison::kEqual;
    Value value;
    bool negated = false;
    bool Holds(const Value& of) const { return Compare(of) != negated; }

   private:
    bool Compare(const Value& of) const {
      if (of.index() == 0 || (of.index() == 1 && std::isnan(std::get<double>(of)))) {
        return comparison == Comparison::kNotEqual;
      }
      switch (comparison) {
        case Comparison::kEqual:
          return of == value;
        case Comparison::kNotEqual:
          return of != value;
        case Comparison::kLess:
          return of < value;
        default:
          return of >= value;
      }
    }
  };

  size_t Upto(int64_t limit) { return dice_.Below(static_cast<size_t>(limit)); }

  Value SomeValue(const Field& field) {
    if (field.type == FieldType::kBytes) return std::string(1, static_cast<char>('a' + Upto(4)));
    if (field.type == FieldType::kBool) return static_cast<double>(Upto(2));
    if (field.type == FieldType::kFloat && dice_.Percent(5)) return std::nan("");
    if (field.type == FieldType::kUint) return static_cast<double>(Upto(12));
    return static_cast<double>(Upto(12)) - 4;
  }

  static void Store(const Field& field, const Value& value, std::byte* at) {
    if (const auto* const text = std::get_if<std::string>(&value)) {
      std::memcpy(at, text->data(), text->size());
      return;
    }
    const double number = std::get<double>(value);
    if (field.type == FieldType::kFloat) {
      const test::LittleEndian<float> half = static_cast<float>(number);
      const test::LittleEndian<double> whole = number;
      std::memcpy(at, field.size == 4 ? static_cast<const void*>(&half) : &whole,
                  static_cast<size_t>(field.size));
      return;
    }
    const test::LittleEndian<int64_t> whole = static_cast<int64_t>(number);
    std::memcpy(at, &whole, static_cast<size_t>(field.size));
  }

  Value Load(const Field& field, const std::byte* at) const {
    if (field.type == FieldType::kBytes) {
      std::string text(reinterpret_cast<const char*>(at), static_cast<size_t>(field.size));
      text.resize(text.find_last_not_of('\0') + 1);
      return text;
    }
    if (field.type == FieldType::kFloat) {
      test::LittleEndian<float> half = 0;
      test::LittleEndian<double> whole = 0;
      std::memcpy(field.size == 4 ? static_cast<void*>(&half) : &whole, at,
                  static_cast<size_t>(field.size));
      return field.size == 4 ? double{half} : double{whole};
    }
    test::LittleEndian<int64_t> whole = 0;
    std::memcpy(&whole, at, static_cast<size_t>(field.size));
    int64_t number = whole;
    const int shift = 64 - 8 * field.size;
    if (field.type == FieldType::kInt) {
      number = static_cast<int64_t>(static_cast<uint64_t>(number) << shift) >> shift;
    }
    return static_cast<double>(number);
  }

  Test SomeTest(size_t field) {
    Test test;
    do {
      test.value = SomeValue(fields_[field]);
    } while (test.value.index() == 1 && std::isnan(std::get<double>(test.value)));
    constexpr std::pair<Comparison, const char*> kKinds[] = {{Comparison::kEqual, "=="},
                                                             {Comparison::kNotEqual, "!="},
                                                             {Comparison::kLess, "<"},
                                                             {Comparison::kGreaterOrEqual, ">="}};
    const auto& [comparison, sign] = kKinds[Upto(4)];
    test.comparison = comparison;
    test.negated = dice_.Percent(30);
    const auto* const text = std::get_if<std::string>(&test.value);
    const std::string value =
        text != nullptr ? "'" + *text + "'"
                        : absl::StrFormat("%d", static_cast<int64_t>(std::get<double>(test.value)));
    test.text = absl::StrFormat("%s%s %s %s%s", test.negated ? "not (" : "", fields_[field].name,
                                sign, value, test.negated ? ")" : "");
    return test;
  }

  // The least number that has a value, or the end.
  int64_t FirstWithValue(size_t field) const {
    for (int64_t i = first_; i < std::ssize(all_); ++i) {
      if (all_[static_cast<size_t>(i)].values[field].index() != 0) return i;
    }
    return std::ssize(all_);
  }

  static bool IsSame(const Value& a, const Value& b) {
    const auto is_nan = [](const Value& v) {
      return v.index() == 1 && std::isnan(std::get<double>(v));
    };
    return a == b || (is_nan(a) && is_nan(b));
  }

  void CheckColumn(const LogSnapshot& log, size_t field) {
    const Field& type = fields_[field];
    const int64_t with = FirstWithValue(field);
    ASSERT_EQ(log.FirstWithValue(type.name).value(), with) << type.name;
    const auto size = static_cast<size_t>(type.size);
    const auto count = static_cast<size_t>(log.end_record() - first_);
    std::vector<std::byte> column(count * size);
    ASSERT_TRUE(IsOk(log.ReadColumn(type.name, first_, column)));
    const auto record_size = static_cast<size_t>(log.schema().record_size());
    std::vector<std::byte> records(count * record_size);
    ASSERT_TRUE(IsOk(log.ReadRecords(first_, records)));
    for (size_t i = 0; i < count; ++i) {
      const std::byte* const at = column.data() + i * size;
      ASSERT_EQ(std::memcmp(at, records.data() + i * record_size + type.offset, size), 0);
      const Record& record = all_[static_cast<size_t>(first_) + i];
      const Value found = Load(type, at);
      const Value& value = record.values[field];
      const bool is_blank = value.index() == 0 || (record.deleted && field != 0);
      if (!is_blank) {
        ASSERT_TRUE(IsSame(found, value)) << type.name << " of record " << first_ + int64_t(i);
      } else if (type.type == FieldType::kFloat) {
        ASSERT_TRUE(std::isnan(std::get<double>(found)));
      } else if (type.type == FieldType::kBytes) {
        ASSERT_EQ(std::get<std::string>(found), "");
      } else if (type.type == FieldType::kTimestamp) {
        ASSERT_LT(std::get<double>(found), -9e18);
      } else {
        ASSERT_EQ(std::get<double>(found), 0);
      }
    }
  }

  void CheckQuery(const LogSnapshot& log) {
    const size_t tested = Upto(std::ssize(fields_));
    const size_t shown = Upto(std::ssize(fields_));
    const Test test = SomeTest(tested);
    const LogQuery query = {.fields = {fields_[shown].name, "time"},
                            .filters = {test.text},
                            .order = dice_.Percent(50) ? LogOrder::kTime : LogOrder::kRecord};
    LogCursor cursor = log.Query(query).value();
    std::vector<int64_t> found;
    for (LogBatch batch = cursor.Next().value(); batch.size() > 0; batch = cursor.Next().value()) {
      for (size_t i = 0; i < batch.records.size(); ++i) {
        found.push_back(batch.records[i]);
        const Value& value = all_[static_cast<size_t>(found.back())].values[shown];
        ASSERT_EQ(batch.HasValue(0, i), value.index() != 0) << fields_[shown].name;
        ASSERT_TRUE(batch.HasValue(1, i));
        const auto size = static_cast<size_t>(fields_[shown].size);
        if (value.index() == 0) continue;
        ASSERT_TRUE(IsSame(Load(fields_[shown], batch.columns[0].data() + i * size), value));
      }
    }
    std::vector<int64_t> expected;
    for (int64_t i = first_; i < std::ssize(all_); ++i) {
      const Record& record = all_[static_cast<size_t>(i)];
      if (!record.deleted && test.Holds(record.values[tested])) expected.push_back(i);
    }
    const auto time_of = [this](int64_t i) { return all_[static_cast<size_t>(i)].time; };
    if (query.order == LogOrder::kTime) std::ranges::stable_sort(expected, {}, time_of);
    ASSERT_EQ(found, expected) << test.text;
  }

  // Sums the values of one field.
  struct Sum {
    int64_t records = 0;
    int64_t count = 0;
    double sum = 0;
    void Add(const Value& value) {
      ++records;
      const auto* const number = std::get_if<double>(&value);
      if (number == nullptr || std::isnan(*number)) return;
      ++count;
      sum += *number;
    }
  };

  void CheckAggregate(const LogSnapshot& log) {
    std::vector<size_t> numbers;
    for (size_t i = 1; i < fields_.size(); ++i) {
      if (fields_[i].type != FieldType::kBytes) numbers.push_back(i);
    }
    const size_t field = numbers[Upto(std::ssize(numbers))];
    const size_t tested = Upto(std::ssize(fields_));
    const Test test = SomeTest(tested);
    LogAggregation aggregation = {.bucket = 1 + static_cast<int64_t>(Upto(3000)),
                                  .fields = {fields_[field].name}};
    const bool filtered = dice_.Percent(40);
    if (filtered) aggregation.filters = {test.text};
    const bool measured = dice_.Percent(40);
    if (measured) aggregation.measures = {{.field = fields_[field].name}};
    std::map<int64_t, Sum> expected;
    for (int64_t i = first_; i < std::ssize(all_); ++i) {
      const Record& record = all_[static_cast<size_t>(i)];
      if (record.deleted || (filtered && !test.Holds(record.values[tested]))) continue;
      const int64_t rest = record.time % aggregation.bucket;
      const int64_t past = rest < 0 ? rest + aggregation.bucket : rest;
      expected[record.time - past].Add(record.values[field]);
    }
    const std::vector<LogBucket> found = log.Aggregate(aggregation).value();
    ASSERT_EQ(found.size(), expected.size());
    for (const LogBucket& bucket : found) {
      const Sum& sum = expected[bucket.begin];
      ASSERT_EQ(bucket.records, sum.records);
      ASSERT_EQ(bucket.fields[0].count, sum.count) << fields_[field].name;
      ASSERT_NEAR(bucket.fields[0].sum, sum.sum, 1e-6);
      if (fields_[field].type != FieldType::kFloat) {
        ASSERT_EQ(static_cast<double>(bucket.wholes[0].sum), sum.sum);
      }
      if (measured) {
        ASSERT_EQ(std::isnan(bucket.measures[0]), sum.count == 0);
      }
    }
  }

  void CheckGroups(const LogSnapshot& log) {
    std::vector<size_t> fields;
    for (size_t i = 1; i < fields_.size(); ++i) {
      if (fields_[i].type != FieldType::kFloat) fields.push_back(i);
    }
    const size_t by = fields[Upto(std::ssize(fields))];
    std::map<Value, Sum> expected;
    for (int64_t i = first_; i < std::ssize(all_); ++i) {
      const Record& record = all_[static_cast<size_t>(i)];
      if (!record.deleted) expected[record.values[by]].Add(record.values[1]);
    }
    const std::vector<LogBucket> found =
        log.Aggregate({.fields = {"temp"}, .by = {fields_[by].name}}).value();
    ASSERT_EQ(found.size(), expected.size());
    for (const LogBucket& group : found) {
      Value value;
      if (const auto* const text = std::get_if<std::string>(group.group.data())) value = *text;
      if (const auto* const i = std::get_if<int64_t>(group.group.data())) value = double(*i);
      if (const auto* const u = std::get_if<uint64_t>(group.group.data())) value = double(*u);
      ASSERT_EQ(expected.count(value), 1) << fields_[by].name;
      ASSERT_EQ(group.records, expected[value].records);
      ASSERT_EQ(group.fields[0].count, expected[value].count);
    }
  }

  TempDir temp_;
  test::Dice dice_;
  std::optional<Log> log_;
  std::optional<Log> reader_;
  std::optional<LogWriter> writer_;
  std::vector<Field> fields_;
  std::vector<Record> all_;
  int64_t now_ = 0;
  int64_t first_ = 0;
};

TEST(LogFieldsModel, OldRecordsHaveNoValueWhateverIsAsked) {
  for (uint64_t seed = 1; seed <= 10 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    LogCreateOptions options = SensorOptions();
    if (seed % 2 == 0) options.rotation.period = 3000;
    if (seed % 3 == 0) options.retention.max_records = 600;
    WideningLog model(options, seed);
    for (const char* field :
         {"level:i4", "room:bytes[8]", "seen:timestamp[ms]", "ok:bool", "flow:f4", "hits:u2"}) {
      model.Append(seed % 4 == 0 ? 5 : 170);
      model.AddField(field);
      if (seed % 5 != 0) model.Append(90);
      model.Delete();
      model.Check();
      if (testing::Test::HasFatalFailure()) return;
    }
    model.CheckReader();
  }
}

}  // namespace
}  // namespace cairn
