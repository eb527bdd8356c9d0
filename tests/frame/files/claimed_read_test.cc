#include "engine/frame/files/claimed_read.h"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "engine/storage/memory_file_system.h"
#include "tests/support/bytes.h"
#include "tests/support/status.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::frame {
namespace {

constexpr int64_t kOneMiB = int64_t{1} << 20;

// Far away: says that it is larger than it is.
class FarFile final : public test::UnsyncedFile {
 public:
  explicit FarFile(std::unique_ptr<File> base) : UnsyncedFile(std::move(base)) {}
  int64_t read_ahead() const override { return kOneMiB; }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    largest_ = std::max(largest_, std::ssize(dst));
    return UnsyncedFile::ReadAt(offset, dst);
  }
  int64_t largest() const { return largest_; }

 private:
  mutable int64_t largest_ = 0;
};

TEST(ClaimedReadTest, ReadsWhatIsThereInParts) {
  test::Buffer bytes(static_cast<size_t>(80 * kOneMiB + 1));
  for (size_t i = 0; i < bytes.size(); i += 999) bytes[i] = static_cast<std::byte>(i >> 12);
  FarFile file(std::make_unique<storage::MemoryFile>("far", bytes));
  for (const int64_t size : {int64_t{0}, int64_t{1}, 8 * kOneMiB, 8 * kOneMiB + 1, 80 * kOneMiB}) {
    const auto read = ReadAsItComes(file, 1, size);
    ASSERT_TRUE(IsOk(read)) << size;
    EXPECT_TRUE(
        std::ranges::equal(read->bytes(), Bytes(bytes).subspan(1, static_cast<size_t>(size))));
  }
  EXPECT_EQ(file.largest(), 32 * kOneMiB);
}

TEST(ClaimedReadTest, TakesNoMemoryForWhatDoesNotCome) {
  const test::Buffer bytes(static_cast<size_t>(10 * kOneMiB));
  FarFile file(std::make_unique<storage::MemoryFile>("far", bytes));
  EXPECT_TRUE(absl::IsOutOfRange(ReadAsItComes(file, 0, int64_t{1} << 60).status()));
  EXPECT_EQ(file.largest(), 8 * kOneMiB);
}

TEST(ClaimedReadTest, FileOfThisMachineIsReadAtOnce) {
  const storage::MemoryFile file;
  EXPECT_FALSE(IsClaim(file, int64_t{1} << 30));
}

}  // namespace
}  // namespace cairn::frame
