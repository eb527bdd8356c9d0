// The room for descriptors is counted, whatever numbers the process uses.
#include "engine/storage/descriptor_room.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "engine/storage/posix/fd.h"
#include "tests/support/child_process.h"

namespace cairn::storage {
namespace {

constexpr int kLimit = 64;

// Returns what `look` sees in a process that may have 64 descriptors, and has all of these but
// `free`: the lowest ones after the standard streams if `lowest` is set, else the highest.
int64_t LeftOf(int free, bool lowest, int64_t most) {
  return test::ResultOfChild([=] {
    ::closefrom(STDERR_FILENO + 1);
    const struct rlimit limit = {.rlim_cur = kLimit, .rlim_max = kLimit};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    while (::open("/", O_PATH) >= 0) {
    }
    const int first = lowest ? STDERR_FILENO + 1 : kLimit - free;
    for (int i = 0; i < free; ++i) ::close(first + i);
    const DescriptorRoom room = FindDescriptorRoom(most);
    return room.limit == kLimit ? static_cast<int>(room.left) : -1;
  });
}

TEST(DescriptorRoomTest, FreeDescriptorsAreCounted) {
  EXPECT_EQ(LeftOf(5, false, 32), 5);
  EXPECT_EQ(LeftOf(0, false, 32), 0);
}

TEST(DescriptorRoomTest, LowNumbersThatAreFreeHideNoneThatAreUsed) {
  EXPECT_EQ(LeftOf(1, true, 32), 1);
}

TEST(DescriptorRoomTest, NoMoreAreCountedThanAsked) { EXPECT_EQ(LeftOf(40, false, 32), 32); }

}  // namespace
}  // namespace cairn::storage
