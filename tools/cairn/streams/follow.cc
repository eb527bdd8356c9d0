#include "tools/cairn/streams/follow.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "tools/cairn/io/stdout_watch.h"
#include "tools/cairn/report/damage_check.h"
#include "tools/cairn/streams/data_out.h"
#include "tools/cairn/streams/same_items.h"
#include "tools/cairn/text/complain.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

using std::chrono::milliseconds;

// The pause between two looks at a frame that is just being replaced.
constexpr milliseconds kReplacedPause(10);
// The pause between two looks at standard output.
constexpr milliseconds kOutputPause(100);

// Returns the shape of a row of an array, without its first dimension. Empty without an array.
std::vector<int64_t> RowShapeOf(const Snapshot& snapshot) {
  if (!snapshot.array() || snapshot.array()->shape.empty()) return {};
  const std::vector<int64_t>& shape = snapshot.array()->shape;
  return {shape.begin() + 1, shape.end()};
}

std::string ShapeOf(const Snapshot& snapshot) {
  return snapshot.array() ? absl::StrJoin(snapshot.array()->shape, " x ") : "none";
}

class Follower {
 public:
  Follower(const std::string& path, int64_t next) : path_(path), next_(next) {}

  // Writes the items after those that were written. `before` is the state that was shown last.
  absl::Status Show(const std::optional<Snapshot>& before, const Snapshot& now) {
    const FrameInfo& info = now.info();
    if (before) TellChanges(*before, now);
    next_ = std::min(next_, info.nitems);
    const Range items = {next_, info.nitems};
    next_ = info.nitems;
    Progress silent("", std::nullopt);
    const absl::Status status = WriteItems(now, items, silent);
    return status.ok() ? CheckDamage(now) : status;
  }

 private:
  void TellChanges(const Snapshot& before, const Snapshot& now) {
    const int64_t nitems = now.info().nitems;
    if (RowShapeOf(now) != RowShapeOf(before)) {
      // The items now have other numbers.
      Complain(absl::StrFormat("%s: the array was changed: its shape is %s now, and was %s", path_,
                               ShapeOf(now), ShapeOf(before)));
      next_ = nitems;
    } else if (nitems < next_) {
      Complain(absl::StrFormat("%s: the frame was changed: it had %d items, and %d are left", path_,
                               next_, nitems));
    } else if (!BeginsWith(now, before)) {
      Complain(absl::StrFormat(
          "%s: the frame was changed: some of its first %d items are different now", path_, next_));
    }
  }

  std::string path_;
  int64_t next_;  // the item to write next
};

}  // namespace

absl::Status Follow(Frame& frame, const std::string& path, int64_t first_item) {
  EndOnSignals();
  Snapshot shown = frame.snapshot();
  Follower follower(path, first_item);
  RETURN_IF_ERROR(follower.Show(std::nullopt, shown));
  for (milliseconds pause(0); WaitWhileStdoutIsOpen(pause);) {
    const absl::StatusOr<Snapshot> now = frame.WaitForCommit(shown, kOutputPause);
    const bool replaced = absl::IsUnavailable(now.status());
    pause = replaced ? kReplacedPause : milliseconds(0);
    if (replaced) continue;
    if (!now.ok()) return now.status();
    if (*now == shown) continue;
    RETURN_IF_ERROR(follower.Show(shown, *now));
    shown = *now;
  }
  return absl::OkStatus();
}

}  // namespace cairn::tool
