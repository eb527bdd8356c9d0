#include "tests/sqlite/differential/step.h"

#include "absl/strings/str_cat.h"

namespace cairn::test {

namespace {

const char* NameOf(Step::Kind kind) {
  switch (kind) {
    case Step::Kind::kSql:
      return "";
    case Step::Kind::kOpen:
      return "open";
    case Step::Kind::kClose:
      return "close";
    case Step::Kind::kOpenCursor:
      return "open cursor";
    case Step::Kind::kStepCursor:
      return "step cursor";
    case Step::Kind::kOpenBlob:
      return "open blob";
    case Step::Kind::kReadBlob:
      return "read blob";
    case Step::Kind::kWriteBlob:
      return "write blob";
    case Step::Kind::kMoveBlob:
      return "move blob";
    case Step::Kind::kBeginBackup:
      return "begin backup";
    case Step::Kind::kStepBackup:
      return "step backup";
    case Step::Kind::kCloseSlot:
      return "close slot";
    case Step::Kind::kCopyToMemory:
      return "copy to memory";
    case Step::Kind::kVacuumInto:
      return "vacuum into";
    case Step::Kind::kFillDisk:
      return "fill the disk";
    case Step::Kind::kFreeDisk:
      return "free the disk";
    case Step::Kind::kInspect:
      return "inspect";
  }
  return "?";
}

}  // namespace

std::string ToString(const Step& step) {
  const std::string who = absl::StrCat("c", step.connection, ": ");
  if (step.kind == Step::Kind::kSql) {
    return absl::StrCat(
        who, step.sql, ";",
        step.number > 0 ? absl::StrCat("  -- interrupted after ", step.number) : "");
  }
  return absl::StrCat(who, "-- ", NameOf(step.kind), ", slot ", step.slot, ", number ", step.number,
                      ", offset ", step.offset, step.sql.empty() ? "" : ": ", step.sql);
}

}  // namespace cairn::test
