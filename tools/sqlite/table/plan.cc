#include "tools/sqlite/table/plan.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"

#include "tools/status.h"

namespace cairn::sqlite {

namespace {

constexpr int64_t kLastTime = std::numeric_limits<int64_t>::max();
// This few rows are read faster than the statistics of chunks that might exclude them.
constexpr int64_t kFewRows = 1'024;

bool IsComparison(int op) {
  return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LT ||
         op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_GT ||
         op == SQLITE_INDEX_CONSTRAINT_GE;
}

// The role of a table's column in a plan.
enum class Role : uint8_t { kRow, kCoordinate, kTime, kStatistics, kNone };

Role RoleOf(const FrameTable& table, int column) {
  if (column == kRowId) return Role::kRow;
  const auto i = static_cast<size_t>(column);
  if (i < table.dimensions()) return Role::kCoordinate;
  const size_t field = i - table.dimensions();
  if (field == table.time_column()) return Role::kTime;
  const Column& value = table.columns()[field];
  const bool is_number = value.type == ColumnType::kInt || value.type == ColumnType::kFloat ||
                         value.type == ColumnType::kTime || value.type == ColumnType::kBool ||
                         (value.type == ColumnType::kUint && value.size < 8);
  return is_number && table.FieldOf(value) != nullptr ? Role::kStatistics : Role::kNone;
}

// Returns the share of rows that a constraint is assumed to leave.
double ShareOf(Role role, int op, double nrows) {
  const bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
  switch (role) {
    case Role::kRow:
      return equal ? 1 / nrows : 0.25;
    case Role::kTime:
      return equal ? std::max(1 / nrows, 1e-5) : 0.2;
    case Role::kCoordinate:
      return equal ? 0.01 : 0.25;
    case Role::kStatistics:
      return equal ? 0.1 : 0.5;
    case Role::kNone:
      break;
  }
  return 1;
}

// Returns the order that a query asks for, if a scan has it.
std::optional<Plan::Order> OrderOf(const FrameTable& table, bool queried, bool writable,
                                   const sqlite3_index_info& info) {
  const std::span terms(info.aOrderBy, static_cast<size_t>(info.nOrderBy));
  if (terms.empty()) return std::nullopt;
  const auto& first = terms[0];
  if (first.iColumn == kRowId) {  // alone decides the order
    if (!first.desc) return Plan::Order::kRow;
    if (!queried && table.dimensions() == 0) return Plan::Order::kRowDescending;
    return std::nullopt;
  }
  const Role role = RoleOf(table, first.iColumn);
  if (role == Role::kTime && !first.desc && !writable &&
      (terms.size() == 1 || (terms[1].iColumn == kRowId && !terms[1].desc))) {
    return Plan::Order::kTime;
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool next = role == Role::kCoordinate && terms[i].iColumn == static_cast<int>(i) &&
                      i < table.dimensions() && !terms[i].desc;
    if (!next) return std::nullopt;
  }
  return Plan::Order::kRow;
}

}  // namespace

std::string EncodePlan(const Plan& plan) {
  std::string text = absl::StrFormat("%d %d", static_cast<int>(plan.order), plan.used);
  for (const Plan::Term& term : plan.terms)
    absl::StrAppendFormat(&text, " %d %d", term.column, term.op);
  return text;
}

Plan DecodePlan(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto take = [&at, end](auto number) {
    while (at < end && *at == ' ') ++at;
    at = std::from_chars(at, end, number).ptr;
    return number;
  };
  Plan plan;
  plan.order = static_cast<Plan::Order>(take(int{}));
  plan.used = take(uint64_t{});
  while (at < end) {
    const int column = take(int{});
    plan.terms.push_back({.column = column, .op = take(int{})});
  }
  return plan;
}

Plan ChoosePlan(const FrameTable& table, bool writable, sqlite3_index_info& info) {
  Plan plan;
  plan.used = info.colUsed;
  const double all = static_cast<double>(std::max<int64_t>(table.nrows(), 1));
  double rows = all;
  double read = all;  // rows that are decoded
  bool queried = false;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    if (!constraint.usable || !IsComparison(constraint.op)) continue;
    const Role role = RoleOf(table, constraint.iColumn);
    if (role == Role::kNone) continue;
    plan.terms.push_back({.column = constraint.iColumn, .op = constraint.op});
    info.aConstraintUsage[i].argvIndex = static_cast<int>(plan.terms.size());
    info.aConstraintUsage[i].omit =
        role == Role::kRow || role == Role::kCoordinate || role == Role::kTime;
    const double share = ShareOf(role, constraint.op, all);
    rows *= share;
    // Statistics exclude chunks without a chosen row, but the chosen rows may lie anywhere.
    read *= role == Role::kStatistics ? std::max(share, 0.5) : share;
    queried = queried || role == Role::kTime || role == Role::kStatistics;
    if (role == Role::kRow && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ) {
      info.idxFlags |= SQLITE_INDEX_SCAN_UNIQUE;
      rows = read = 1;
    }
  }
  if (const auto order = OrderOf(table, queried, writable, info)) {
    plan.order = *order;
    info.orderByConsumed = 1;
  }
  info.estimatedRows = std::max<int64_t>(1, static_cast<int64_t>(rows));
  info.estimatedCost = 20 + std::max(read, 1.0);
  return plan;
}

namespace {

// Returns the numbers of rows that the values of a plan's terms leave.
IntegerRange RowsOf(const Plan& plan, std::span<sqlite3_value* const> values) {
  IntegerRange rows;
  for (size_t i = 0; i < plan.terms.size(); ++i) {
    if (plan.terms[i].column == kRowId) Narrow(rows, plan.terms[i].op, NumberOf(values[i]));
  }
  return rows;
}

// Returns the times of a log that the values of a plan's terms leave.
IntegerRange TimesOf(const FrameTable& table, const Plan& plan,
                     std::span<sqlite3_value* const> values) {
  IntegerRange times;
  for (size_t i = 0; i < plan.terms.size(); ++i) {
    const auto& [column, op] = plan.terms[i];
    if (RoleOf(table, column) != Role::kTime) continue;
    // A record without a time is NULL, for which no comparison holds.
    const bool may_miss = table.columns()[table.time_column()].type == ColumnType::kTime;
    if (may_miss) times.least = std::max(times.least, kNoTime + 1);
    Narrow(times, op, NumberOf(values[i]));
  }
  return times;
}

absl::StatusOr<std::unique_ptr<Scan>> MakeBox(const FrameTable& table, const StatePtr& state,
                                              const Plan& plan,
                                              std::span<sqlite3_value* const> values) {
  std::vector<IntegerRange> box(table.dimensions());
  for (size_t i = 0; i < plan.terms.size(); ++i) {
    const auto& [column, op] = plan.terms[i];
    if (column != kRowId) Narrow(box[static_cast<size_t>(column)], op, NumberOf(values[i]));
  }
  return MakeBoxScan(state, table.columns(), RowsOf(plan, values), std::move(box));
}

// Returns a comparison for the query, which may find too much. SQLite compares what is found again,
// as the numbers that its columns give. A query rounds numbers that a float is compared with, so a
// number less than another may be equal to it there.
Comparison ComparisonOf(int op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
      return Comparison::kLessOrEqual;
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
      return Comparison::kGreaterOrEqual;
    default:
      return Comparison::kEqual;
  }
}

// Adds a condition, unless the query finds nothing anyway.
void AddCondition(LogQuery& query, const Field& field, int op, const Number& number) {
  if (number.kind == Number::Kind::kNull || number.kind == Number::Kind::kOther) {
    const bool all = number.kind == Number::Kind::kOther &&
                     (op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE);
    if (!all) query.limit = 0;
    return;
  }
  const bool integer = number.kind == Number::Kind::kInteger;
  // A column gives integers that SQLite lacks as the nearest REAL, and only that is compared.
  constexpr double kNoInteger = 9223372036854775808.0;  // 2^63
  if (!integer && field.type == FieldType::kUint && number.real >= kNoInteger) return;
  query.where.push_back({.field = field.name,
                         .comparison = ComparisonOf(op),
                         .value = integer ? FieldValue(number.integer) : FieldValue(number.real)});
}

bool IsUsed(const Plan& plan, size_t column) {
  return (plan.used >> std::min<size_t>(column, 63) & 1) != 0;
}

struct LogPlan {
  LogQuery query;
  std::vector<size_t> used;  // columns that the query returns
  bool needed = false;       // the terms need a query
  bool has_times = false;
};

LogPlan PlanLog(const FrameTable& table, const Plan& plan, std::span<sqlite3_value* const> values) {
  LogPlan log;
  const IntegerRange times = TimesOf(table, plan, values);
  const size_t time_column = table.time_column();
  for (size_t i = 0; i < plan.terms.size(); ++i) {
    const auto& [column, op] = plan.terms[i];
    const Role role = RoleOf(table, column);
    if (role == Role::kTime) {
      log.has_times = true;
    } else if (role == Role::kStatistics) {
      const Column& value = table.columns()[static_cast<size_t>(column)];
      AddCondition(log.query, *table.FieldOf(value), op, NumberOf(values[i]));
    }
    log.needed = log.needed || role == Role::kTime || role == Role::kStatistics;
  }
  if (times.empty()) log.query.limit = 0;
  log.query.times.begin = times.least;
  log.query.times.end = times.greatest == kLastTime ? kLastTime : times.greatest + 1;
  if (times.greatest == kLastTime - 1) {  // with that end there would be no limit
    AddCondition(log.query, *table.FieldOf(table.columns()[time_column]),
                 SQLITE_INDEX_CONSTRAINT_LE,
                 {.kind = Number::Kind::kInteger, .integer = times.greatest});
  }
  log.query.order = plan.order == Plan::Order::kTime ? LogOrder::kTime : LogOrder::kRecord;
  log.needed = log.needed || plan.order == Plan::Order::kTime;
  for (size_t i = 0; i < table.columns().size(); ++i) {
    if (IsUsed(plan, i)) log.used.push_back(i);
  }
  // An empty list of fields would mean all of them.
  if (log.used.empty()) log.used.push_back(time_column < table.columns().size() ? time_column : 0);
  for (const size_t i : log.used) {
    log.query.fields.push_back(table.FieldOf(table.columns()[i])->name);
  }
  return log;
}

bool AreFew(const TableState& state, const IntegerRange& rows) {
  const int64_t least = std::max(rows.least, state.first_row());
  const int64_t greatest = std::min(rows.greatest, state.end_row() - 1);
  return least > greatest || greatest - least < kFewRows;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Scan>> MakeScan(const FrameTable& table, const StatePtr& state,
                                               const Plan& plan,
                                               std::span<sqlite3_value* const> values) {
  if (table.dimensions() > 0) return MakeBox(table, state, plan, values);
  const IntegerRange rows = RowsOf(plan, values);
  const bool asks_log =
      plan.order == Plan::Order::kTime ||
      std::ranges::any_of(plan.terms, [](const Plan::Term& term) { return term.column != kRowId; });
  if (state->log() != nullptr && asks_log) {
    LogPlan log = PlanLog(table, plan, values);
    const bool in_time = log.has_times || plan.order == Plan::Order::kTime;
    const bool few = rows != IntegerRange() && AreFew(*state, rows);
    if (log.needed && (in_time || !few)) {
      return MakeLogScan(state, table.columns(), rows, log.query, std::move(log.used));
    }
  }
  std::vector<bool> wanted;
  for (size_t i = 0; i < table.columns().size(); ++i) wanted.push_back(IsUsed(plan, i));
  return MakeRangeScan(state, table.columns(), rows, std::move(wanted),
                       plan.order == Plan::Order::kRowDescending);
}

std::unique_ptr<Scan> MakeScanOf(const FrameTable& table, std::span<const std::byte> records,
                                 int64_t first, const Plan& plan,
                                 std::span<sqlite3_value* const> values) {
  const IntegerRange rows = RowsOf(plan, values);
  const IntegerRange times = TimesOf(table, plan, values);
  const auto step = static_cast<size_t>(table.item_size());
  MemoryRows chosen;
  for (; !records.empty(); records = records.subspan(step), ++first) {
    const bool fits = times == IntegerRange() ||
                      times.Contains(LoadInteger(table.columns()[table.time_column()], records));
    if (!fits || !rows.Contains(first)) continue;
    chosen.numbers.push_back(first);
    const auto record = records.first(step);
    chosen.records.insert(chosen.records.end(), record.begin(), record.end());
  }
  for (const Column& column : table.columns()) {
    chosen.columns.push_back({.data = chosen.records.data() + column.offset, .step = step});
  }
  return MakeMemoryScan(std::move(chosen), plan.order == Plan::Order::kRowDescending);
}

}  // namespace cairn::sqlite
