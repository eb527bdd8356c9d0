// The input is a line of /proc/PID/fdinfo/FD. What it names as locked is written as such a line
// again, and read.

#include <string>

#include "absl/strings/str_cat.h"

#include "engine/base/bytes.h"
#include "engine/storage/posix/lock_holders.h"
#include "fuzz/check.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

void Parse(Bytes input) {
  const std::optional<Extent> lock = storage::ParseLockLine(std::string(AsText(input)));
  if (!lock.has_value()) return;
  Check(lock->begin >= 0 && lock->begin <= lock->end, "a lock is of bytes that there may be");
  if (lock->begin == lock->end) return;  // of the last byte there may be
  const std::string last = lock->end == INT64_MAX ? "EOF" : absl::StrCat(lock->end - 1);
  const std::string line =
      absl::StrCat("lock:\t1: OFDLCK  ADVISORY  READ -1 08:01:9 ", lock->begin, " ", last);
  Check(storage::ParseLockLine(line) == lock, "a lock reads as it was written", line);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Parse(cairn::fuzz::AsBytes(data, size));
  return 0;
}
