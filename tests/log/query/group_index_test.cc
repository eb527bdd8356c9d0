#include "engine/log/query/group_index.h"

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/log_batch.h"
#include "cairn/record.h"

namespace cairn::log {
namespace {

// A column of a batch, whose first `lacking` records have no value.
struct Column {
  Field field;
  int64_t lacking = 0;
};

Column Make(FieldType type, int32_t size, int64_t lacking = 0) {
  Column column;
  column.field.type = type;
  column.field.size = size;
  column.lacking = lacking;
  return column;
}

// Fills batches with few different values, and compares the numbers of the groups with those that
// texts of the values get.
void CheckNumbers(const std::vector<Column>& columns, uint32_t seed) {
  std::mt19937 random(seed);
  GroupIndex index;
  for (size_t c = 0; c < columns.size(); ++c) index.AddField(c, columns[c].field);
  std::map<std::string, size_t> groups;
  int64_t record = 0;
  for (int b = 0; b < 3; ++b) {
    LogBatch batch;
    for (int i = 0; i < 100; ++i) batch.records.push_back(record++);
    for (const Column& column : columns) {
      batch.first_with_value.push_back(column.lacking);
      std::vector<std::byte>& bytes = batch.columns.emplace_back();
      for (int i = 0; i < 100; ++i) {
        const auto size = static_cast<size_t>(column.field.size);
        bytes.resize(bytes.size() + size);
        // The first byte differs, or the last.
        const auto value = static_cast<uint8_t>(random() % 3);
        bytes[bytes.size() - (random() % 2 == 0 ? size : 1)] = std::byte{value};
      }
    }
    index.Begin(batch, 0);
    for (size_t i = 0; i < 100; ++i) {
      std::string text;
      for (size_t c = 0; c < columns.size(); ++c) {
        const auto size = static_cast<size_t>(columns[c].field.size);
        const std::byte* const at = batch.columns[c].data() + i * size;
        std::string value(reinterpret_cast<const char*>(at), size);
        if (columns[c].field.type == FieldType::kBool) value = value[0] != 0 ? "true" : "false";
        if (batch.records[i] < columns[c].lacking) value = "none, which no value says";
        text += value + "|";
      }
      const size_t expected = groups.try_emplace(text, groups.size()).first->second;
      ASSERT_EQ(index.Of(i), expected) << "record " << batch.records[i];
    }
  }
}

TEST(GroupIndexTest, RecordsOfTheSameValuesAreAGroup) {
  const Column boolean = Make(FieldType::kBool, 1);
  const Column code = Make(FieldType::kUint, 4);
  const Column wide = Make(FieldType::kBytes, 11);
  CheckNumbers({}, 1);
  CheckNumbers({boolean}, 2);
  for (const int32_t size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16}) {
    CheckNumbers({Make(FieldType::kBytes, size)}, 3);
  }
  CheckNumbers({code, boolean, Make(FieldType::kInt, 2)}, 4);
  CheckNumbers({code, Make(FieldType::kUint, 4)}, 5);
  CheckNumbers({code, Make(FieldType::kInt, 8)}, 6);
  CheckNumbers({wide, boolean}, 7);
}

TEST(GroupIndexTest, RecordsWithoutAValueAreAGroup) {
  CheckNumbers({Make(FieldType::kUint, 4, 150)}, 1);
  CheckNumbers({Make(FieldType::kInt, 8, 150)}, 2);
  CheckNumbers({Make(FieldType::kBool, 1, 50), Make(FieldType::kUint, 4, 250)}, 3);
  CheckNumbers({Make(FieldType::kUint, 4), Make(FieldType::kBytes, 3, 120)}, 4);
  CheckNumbers({Make(FieldType::kBytes, 12, 120), Make(FieldType::kUint, 4)}, 5);
}

}  // namespace
}  // namespace cairn::log
