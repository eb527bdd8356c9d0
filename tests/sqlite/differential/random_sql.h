// Random statements of SQL over a few names, so that many of them find what they name.
#ifndef CAIRN_TESTS_SQLITE_DIFFERENTIAL_RANDOM_SQL_H_
#define CAIRN_TESTS_SQLITE_DIFFERENTIAL_RANDOM_SQL_H_

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>

namespace cairn::test {

class Choices {
 public:
  explicit Choices(uint64_t seed) : engine_(seed) {}

  // At least 0, below `limit`.
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(limit));
  }
  bool OneIn(int64_t count) { return Below(count) == 0; }
  std::string Of(std::initializer_list<const char*> texts) {
    return texts.begin()[Below(static_cast<int64_t>(texts.size()))];
  }
  // Mostly small, at most `most`.
  int64_t Size(int64_t most);

 private:
  std::mt19937_64 engine_;
};

// Every table has the columns id, a, b, c and d. Statements give the same on both sides, also when
// they fail.
class RandomSql {
 public:
  // `volume`: about the most bytes that a statement writes.
  RandomSql(Choices& choices, int64_t volume) : choices_(choices), volume_(volume) {}

  // Statements about the tables of one schema.
  std::string Data(const std::string& schema);
  std::string Definition(const std::string& schema);
  std::string Query(const std::string& schema);
  // Copies rows from one schema to another.
  std::string Transfer(const std::string& from, const std::string& to);
  std::string Table() { return "t" + std::to_string(choices_.Below(4)); }

 private:
  std::string Value();
  std::string Range();
  std::string Columns();
  std::string InsertOne(const std::string& schema);
  std::string InsertMany(const std::string& schema);
  std::string Update(const std::string& schema);
  std::string Delete(const std::string& schema);
  std::string Virtual(const std::string& schema);
  std::string CreateTable(const std::string& schema);
  std::string CreateIndex(const std::string& schema);
  std::string CreateTrigger(const std::string& schema);
  std::string CreateVirtual(const std::string& schema);
  std::string Alter(const std::string& schema);

  Choices& choices_;
  const int64_t volume_;
  int64_t unique_ = 0;  // makes the values of each statement other ones
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DIFFERENTIAL_RANDOM_SQL_H_
