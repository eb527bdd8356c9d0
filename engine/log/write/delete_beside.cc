#include "engine/log/write/delete_beside.h"

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"

#include "engine/base/deadline.h"
#include "engine/base/status.h"
#include "engine/log/records/record_ranges.h"
#include "engine/log/write/delete_request.h"
#include "engine/log/write/deletion.h"
#include "engine/log/write/writer_core.h"

namespace cairn::log {

namespace {

// Returns how many records were deleted since then, once the request has ended. Errors: kAborted if
// some that it is about are still there.
absl::StatusOr<int64_t> CountSince(LogCore& log, const LogState& before,
                                   const LogSelection& which) {
  CAIRN_ASSIGN_OR_RETURN(const LogStatePtr now, log.Refresh());
  CAIRN_ASSIGN_OR_RETURN(const std::vector<RecordRange> left, FindSelected(now, which));
  if (!left.empty()) {
    return absl::AbortedError(absl::StrFormat("%s: its writer has failed to delete %d records",
                                              log.path(), CountAll(left)));
  }
  return CountAll(now->ChangesSince(before).deleted);
}

// Deletes records as the writer of the log, which carries out a request of others as well.
absl::Status DeleteAsWriter(WriterCore& writer, const LogSelection& which) {
  CAIRN_RETURN_IF_ERROR(writer.Delete(which).status());
  return writer.Close();
}

}  // namespace

absl::StatusOr<int64_t> DeleteBesideWriters(const std::shared_ptr<LogCore>& log, LogSelection which,
                                            std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kBetweenLooks(20);
  const Deadline deadline(wait);
  CAIRN_ASSIGN_OR_RETURN(const LogStatePtr before, log->Refresh());
  CAIRN_RETURN_IF_ERROR(CheckSelection(*before, which));
  // A request can wait for long. It deletes nothing that the caller has not seen.
  which.records.end = std::min(which.records.end, before->end_record());
  const std::vector<std::byte> request = EncodeDeletion(which);
  bool is_left = false;
  while (true) {
    const absl::StatusOr<std::shared_ptr<WriterCore>> writer = WriterCore::Open(log, {});
    if (writer.ok()) {
      CAIRN_RETURN_IF_ERROR(DeleteAsWriter(**writer, which));
      if (is_left) CAIRN_RETURN_IF_ERROR(RemoveDeletion(*log, request));
      CAIRN_ASSIGN_OR_RETURN(const LogStatePtr now, log->Refresh());
      return CountAll(now->ChangesSince(*before).deleted);
    }
    if (!absl::IsUnavailable(writer.status())) return writer.status();
    CAIRN_ASSIGN_OR_RETURN(const auto found, FindDeletion(*log));
    if (is_left && found != request) return CountSince(*log, *before, which);
    is_left = found == request;
    const bool is_request = found && ParseDeletion(*found).ok();
    if (!is_request) {
      // The writer need not hear of a deletion of nothing, or of damage that is in the way.
      CAIRN_ASSIGN_OR_RETURN(const auto selected, FindSelected(before, which));
      if (selected.empty()) return 0;
      // Another process may be faster. Then its request must end first.
      const absl::Status left = LeaveDeletion(*log, request, /*replace=*/found.has_value());
      is_left = left.ok();
      if (!left.ok() && !absl::IsAlreadyExists(left)) return left;
    }
    if (deadline.has_passed()) break;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return absl::UnavailableError(
      absl::StrFormat("%s: its writer %s", log->path(),
                      is_left ? "will delete the records with its next commit"
                              : "has not carried out an earlier request yet"));
}

}  // namespace cairn::log
