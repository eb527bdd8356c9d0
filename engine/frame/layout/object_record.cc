#include "engine/frame/layout/object_record.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"

#include "engine/base/boot_clock.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "engine/object/object_names.h"

namespace cairn::frame {

namespace {

// The least time that fences are tried for, however fast the put was.
constexpr BootClock::duration kLeastPatience = std::chrono::seconds(1);

// Returns true if the record lies at `position`, and false if another one does. Errors: kNotFound
// if nothing lies there: the refusal was wrong, or what was there has been removed as garbage.
absl::StatusOr<bool> IsThere(const ObjectStore& store, const FrameFile& journal, int64_t position,
                             Bytes record) {
  std::vector<std::byte> there(record.size());
  CAIRN_ASSIGN_OR_RETURN(const size_t got, journal.ReadSome(position, there));
  if (got == 0) {
    return absl::NotFoundError(
        absl::StrFormat("%s: a commit was refused, but nothing is in its place", store.Describe()));
  }
  return got == there.size() && std::ranges::equal(there, record);
}

// Puts fences until it is known what lies in the record's place. `status` says why that is not
// known yet. Errors: kDeadlineExceeded if it is not known after `patience` either.
absl::StatusOr<RecordFate> Settle(ObjectStore& store, const FrameFile& journal, int64_t position,
                                  Bytes record, Bytes fence, absl::Status status,
                                  BootClock::duration patience) {
  const std::string name = object::JournalObjectName(position);
  const BootClock::time_point begin = BootClock::now();
  int tries = 0;
  do {
    const absl::Status put = store.PutIfAbsent(name, fence).status();
    if (put.ok()) return RecordFate::kFenced;
    if (absl::IsFailedPrecondition(put)) {
      const absl::StatusOr<bool> ours = IsThere(store, journal, position, record);
      if (ours.ok()) return *ours ? RecordFate::kMade : RecordFate::kFenced;
      status = ours.status();
    } else if (!absl::IsDeadlineExceeded(put) && !absl::IsUnavailable(put)) {
      status = put;
      break;
    }
    PauseBeforeAttempt(tries++);
  } while (BootClock::now() - begin < patience);
  return WithCode(absl::StatusCode::kDeadlineExceeded, status);
}

}  // namespace

void PauseBeforeAttempt(int attempt) {
  constexpr int64_t kShortestPause = 2000;  // microseconds
  constexpr int kMostDoublings = 7;
  const int64_t most = kShortestPause << std::min(attempt, kMostDoublings);
  std::this_thread::sleep_for(
      std::chrono::microseconds(RandomNumber() % static_cast<uint64_t>(most)));
}

absl::StatusOr<RecordFate> PutRecord(ObjectStore& store, const FrameFile& journal, int64_t position,
                                     Bytes record, Bytes fence) {
  const BootClock::time_point begin = BootClock::now();
  absl::Status status = store.PutIfAbsent(object::JournalObjectName(position), record).status();
  if (status.ok()) return RecordFate::kMade;
  if (absl::IsFailedPrecondition(status)) {
    // A proxy may have sent the request twice, and passed on the second answer only.
    const absl::StatusOr<bool> ours = IsThere(store, journal, position, record);
    if (ours.ok()) return *ours ? RecordFate::kMade : RecordFate::kTaken;
    status = ours.status();
  } else if (!absl::IsDeadlineExceeded(status)) {
    return status;
  }
  const BootClock::duration patience = std::max(BootClock::now() - begin, kLeastPatience);
  return Settle(store, journal, position, record, fence, std::move(status), patience);
}

std::vector<std::byte> EncodeFence(const JournalPosition& journal, uint64_t writer_id) {
  std::vector<std::byte> fence;
  format::AppendReceipt({.base = journal.base,
                         .generation = journal.generation,
                         .boot = writer_id,
                         .durable_generation = journal.generation},
                        journal.end, fence);
  return fence;
}

}  // namespace cairn::frame
