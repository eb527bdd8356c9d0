#include "tests/sqlite/differential/differential.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "tests/sqlite/differential/full_disk.h"

namespace cairn::test {

namespace {

std::string MakeDirectory(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directory(path, ignored);
  return path;
}

// Both texts from a little before their first difference on.
std::string ShowDifference(const std::string& stock, const std::string& frame) {
  const auto [at, other] = std::ranges::mismatch(stock, frame);
  size_t from = static_cast<size_t>(at - stock.begin());
  from = stock.rfind('\n', from > 0 ? from - 1 : 0);
  if (from == std::string::npos) from = 0;
  return absl::StrCat("\nstock: ", stock.substr(from, 600), "\nframe: ", frame.substr(from, 600));
}

bool NamesFrameTable(const Step& step) { return absl::StrContains(step.sql, "fr.f"); }

}  // namespace

Differential::Differential(Manner manner, const Layout& layout, const std::string& directory)
    : manner_(manner),
      stock_("unix", MakeDirectory(directory + "/stock"), layout,
             manner == Manner::kBesideReaders ? "WAL" : ""),
      frame_("cairn", MakeDirectory(directory + "/frame"), layout, "") {}

absl::Status Differential::Compare(const Step& step, const Outcome& stock,
                                   const Outcome& frame) const {
  const bool has_frame_table = absl::StrContains(stock.states, "fr ");
  const bool refuses_value = NamesFrameTable(step) && frame.code == SQLITE_MISMATCH &&
                             (stock.code & 0xff) == SQLITE_CONSTRAINT;
  const bool may_see_other_rows = NamesFrameTable(step) && absl::StrContains(stock.states, "fr 1");
  // A statement that failed on one side alone may have counted rows, and begun to write.
  const bool counts_alike =
      manner_ == Manner::kFullDisk || uncounted_.contains(step.connection) ||
      (stock.changes == frame.changes && (stock.rowid == frame.rowid || has_frame_table));
  // If the step that found no room was not done, a transaction has not begun to write, and its
  // journal may still become another one.
  const bool may_have_other_journal =
      manner_ == Manner::kFullDisk && absl::StrContains(step.sql, "journal_mode");
  const bool same = counts_alike && (stock.code == frame.code || refuses_value) &&
                    (stock.rows == frame.rows || may_see_other_rows || may_have_other_journal) &&
                    stock.in_transaction == frame.in_transaction &&
                    (stock.states == frame.states || manner_ == Manner::kFullDisk);
  if (same) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("stock: ", ToString(stock), "\nframe: ", ToString(frame),
                   stock.rows == frame.rows ? "" : ShowDifference(stock.rows, frame.rows)));
}

// Brings both sides to the same state again.
bool Differential::IsRightToDiffer(const Step& step, const Outcome& stock, const Outcome& frame) {
  if (step.kind == Step::Kind::kStepBackup && stock.code != frame.code) {
    const auto goes_well = [](int code) { return code == SQLITE_OK || code == SQLITE_DONE; };
    if (!goes_well(stock.code) || !goes_well(frame.code)) return false;
    Step rest = step;
    rest.number = -1;
    return stock_.Do(rest).code == SQLITE_DONE && frame_.Do(rest).code == SQLITE_DONE;
  }
  const bool refuses_value = NamesFrameTable(step) && frame.code == SQLITE_MISMATCH;
  // Rows of a table that is a frame change no database.
  const bool may_be_newer = stock.in_transaction && absl::StrContains(stock.states, "fr 1");
  // A commit of the same bytes is news to stock SQLite alone: then the frame fails by the
  // statement's own fault.
  const bool is_at_fault = frame.code == SQLITE_ERROR && absl::StrContains(frame.states, " 2");
  const bool goes_on = frame.code == SQLITE_OK || refuses_value || may_be_newer || is_at_fault;
  if (stock.code != SQLITE_BUSY_SNAPSHOT || !goes_on) return false;
  uncounted_.insert(step.connection);
  stock_.Settle(step.connection);
  frame_.Settle(step.connection);
  if (stock.in_transaction || frame.in_transaction) return true;
  const int again = stock_.Do(step).code;
  return refuses_value ? (again & 0xff) == SQLITE_CONSTRAINT : again == frame.code;
}

absl::Status Differential::Inspect() {
  FreeDisk();  // caches of transactions may have to be written
  if (manner_ == Manner::kBesideReaders) {
    const std::string stock = stock_.InspectCommitted(), frame = frame_.InspectCommitted();
    if (stock != frame) {
      return absl::DataLossError("what is committed differs" + ShowDifference(stock, frame));
    }
  }
  const std::string stock = stock_.InspectOpen(), frame = frame_.InspectOpen();
  if (stock == frame) return absl::OkStatus();
  return absl::DataLossError("what connections see differs" + ShowDifference(stock, frame));
}

// The frame first: where it has no room, the other side does the same by not doing the step.
absl::Status Differential::DoOnFullDisk(const Step& step) {
  const bool in_transaction = stock_.InTransaction(step.connection);
  const Outcome frame = frame_.Do(step);
  // A new file cannot be made.
  const bool is_full = (frame.code & 0xff) == SQLITE_FULL ||
                       (step.kind == Step::Kind::kVacuumInto && frame.code == SQLITE_CANTOPEN);
  if (!is_full) return Compare(step, stock_.Do(step), frame);
  // Within a transaction a query may have to write changed pages that the cache has no room for.
  if (frame.reads_only && !in_transaction && step.kind == Step::Kind::kSql) {
    return absl::DataLossError("a query fails: " + ToString(frame));
  }
  frame_.CloseSlots(step.connection);
  stock_.CloseSlots(step.connection);
  // A RELEASE that fails takes everything back and stays in an empty transaction, also on a disk of
  // stock SQLite.
  if (!absl::StrContains(frame.states, " 2")) {
    stock_.Settle(step.connection);
    frame_.Settle(step.connection);
  }
  const absl::Status alike = Inspect();
  if (alike.ok()) return alike;
  return absl::DataLossError(absl::StrCat("after ", ToString(frame), "\n", alike.message()));
}

absl::Status Differential::DoStep(const Step& step) {
  switch (step.kind) {
    case Step::Kind::kInspect:
      return Inspect();
    case Step::Kind::kFillDisk:
      FillDisk(frame_.directory(), step.number);
      return absl::OkStatus();
    case Step::Kind::kFreeDisk:
      FreeDisk();
      return absl::OkStatus();
    default:
      break;
  }
  if (manner_ == Manner::kFullDisk) return DoOnFullDisk(step);
  const Outcome stock = stock_.Do(step), frame = frame_.Do(step);
  if (IsRightToDiffer(step, stock, frame)) return absl::OkStatus();
  return Compare(step, stock, frame);
}

absl::Status Differential::Run(const Script& script) {
  const int made = stock_.Create(), made_of_frames = frame_.Create();
  if (made != SQLITE_OK || made_of_frames != SQLITE_OK) {
    return absl::DataLossError(
        absl::StrCat("databases are made with code ", made, " and ", made_of_frames));
  }
  for (size_t i = 0; i < script.size(); ++i) {
    const absl::Status done = DoStep(script[i]);
    if (!done.ok()) {
      FreeDisk();
      return absl::DataLossError(
          absl::StrCat("step ", i, ", ", ToString(script[i]), "\n", done.message()));
    }
  }
  FreeDisk();
  stock_.CloseAll();
  frame_.CloseAll();
  std::string stock = stock_.InspectCommitted(), frame = frame_.InspectCommitted();
  if (manner_ != Manner::kBesideReaders) {  // a write-ahead log may hold some pages
    absl::StrAppend(&stock, "\nsizes: ", stock_.FileSizes());
    absl::StrAppend(&frame, "\nsizes: ", frame_.FileSizes());
  }
  if (stock == frame) return absl::OkStatus();
  return absl::DataLossError("in the end:" + ShowDifference(stock, frame));
}

}  // namespace cairn::test
