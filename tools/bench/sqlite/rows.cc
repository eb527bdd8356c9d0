#include "tools/bench/sqlite/rows.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/status.h"

namespace cairn::bench::sqlite {

namespace {

constexpr std::array<const char*, 48> kWords = {
    "account", "after",   "agreed",   "before",  "branch",  "call",     "cancel",   "carrier",
    "check",   "city",    "confirm",  "courier", "credit",  "deliver",  "delivery", "depot",
    "door",    "evening", "express",  "fragile", "gift",    "handle",   "invoice",  "item",
    "late",    "leave",   "limited",  "monday",  "morning", "neighbor", "office",   "packing",
    "parcel",  "partial", "payment",  "phone",   "pickup",  "please",   "receipt",  "refund",
    "replace", "return",  "shipment", "station", "street",  "today",    "voucher",  "warehouse"};
constexpr std::array<const char*, 5> kStates = {"open", "paid", "packed", "sent", "closed"};

}  // namespace

std::string Rows::Note() {
  std::string note;
  while (note.size() < 90) {
    absl::StrAppend(&note, note.empty() ? "" : " ", kWords[random_() % kWords.size()]);
    if (random_() % 6 == 0) absl::StrAppend(&note, " ", random_() % 10000);
  }
  return note;
}

Row Rows::Next() {
  at_ += Below(90);
  return {.id = ++id_,
          .at = at_,
          .customer = absl::StrFormat("%016x", random_() >> 1),
          .state = kStates[random_() % kStates.size()],
          .amount = static_cast<double>(Below(100000)) / 100,
          .note = Note()};
}

std::vector<Row> MakeRows(uint64_t seed, int64_t count) {
  Rows rows(seed);
  std::vector<Row> made;
  made.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) made.push_back(rows.Next());
  return made;
}

absl::Status Insert(Statement& insert, const Row& row) {
  insert.Bind(1, row.id);
  insert.Bind(2, row.at);
  insert.Bind(3, row.customer);
  insert.Bind(4, row.state);
  insert.Bind(5, row.amount);
  insert.Bind(6, row.note);
  return insert.Run().status();
}

}  // namespace cairn::bench::sqlite
