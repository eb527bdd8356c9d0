#include "tests/object/mark_writers.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/status.h"

namespace cairn::test {

namespace {

constexpr int kMachines = 8;
constexpr int kCommitsOfEach = 200;

// Two items, so that half a commit would show.
using Marks = std::array<uint32_t, 2>;

// Says which commit of which writer it belongs to.
uint32_t MarkOf(int writer, int commit) { return static_cast<uint32_t>(writer * 1000 + commit); }

bool IsWorthAnother(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) || absl::IsAborted(status);
}

// Marks that were refused are not committed, and a writer that stops ends the test.
absl::Status CommitMarks(Writer& writer, const Marks& marks) {
  for (;;) {
    absl::Status status = writer.Append(marks);
    if (status.ok()) status = writer.Commit().status();
    if (!IsWorthAnother(status)) return status;
    writer.Rollback();
    if (!writer.StagedSnapshot().ok()) return status;
  }
}

std::optional<Frame> OpenAtLast(const std::string& name, const std::shared_ptr<FileSystem>& files) {
  for (;;) {
    auto frame = Frame::Open(name, {.file_system = files});
    if (frame.ok()) return *std::move(frame);
    if (!IsWorthAnother(frame.status())) {
      EXPECT_TRUE(IsOk(frame));
      return std::nullopt;
    }
  }
}

std::optional<Writer> OpenWriterAtLast(Frame& frame) {
  for (;;) {
    auto writer = frame.OpenWriter();
    if (writer.ok()) return *std::move(writer);
    if (!IsWorthAnother(writer.status())) {
      EXPECT_TRUE(IsOk(writer));
      return std::nullopt;
    }
  }
}

void WriteMarks(const std::shared_ptr<FileSystem>& files, const std::string& name, int number) {
  std::optional<Frame> frame = OpenAtLast(name, files);
  ASSERT_TRUE(frame.has_value());
  std::optional<Writer> writer = OpenWriterAtLast(*frame);
  ASSERT_TRUE(writer.has_value());
  for (int commit = 0; commit < kCommitsOfEach; ++commit) {
    const uint32_t mark = MarkOf(number, commit);
    ASSERT_TRUE(IsOk(CommitMarks(*writer, {mark, mark})));
    if (commit % 50 != 0) continue;
    const auto seen = frame->Refresh();
    ASSERT_TRUE(seen.ok() || IsWorthAnother(seen.status())) << seen.status();
    EXPECT_EQ(frame->snapshot().info().nbytes % static_cast<int64_t>(sizeof(Marks)), 0);
  }
}

}  // namespace

void WriteAllMarks(const std::string& name, const MakeMachine& machine) {
  std::vector<std::thread> writers;
  for (int number = 0; number < kMachines; ++number) {
    writers.emplace_back([&, number] { WriteMarks(machine(), name, number); });
  }
  for (std::thread& writer : writers) writer.join();
}

void ExpectAllMarks(const std::string& name, const std::shared_ptr<FileSystem>& files) {
  const auto frame = Frame::Open(name, {.file_system = files});
  ASSERT_TRUE(IsOk(frame));
  const Snapshot& snapshot = frame->snapshot();
  std::vector<uint32_t> marks(static_cast<size_t>(snapshot.info().nbytes / 4));
  ASSERT_TRUE(IsOk(snapshot.ReadItems(0, marks)));
  ASSERT_EQ(marks.size(), size_t{2} * kMachines * kCommitsOfEach);
  std::array<int, kMachines> next{};
  for (size_t i = 0; i < marks.size(); i += 2) {
    ASSERT_EQ(marks[i], marks[i + 1]);
    const size_t writer = marks[i] / 1000;
    ASSERT_LT(writer, next.size());
    EXPECT_EQ(marks[i], MarkOf(static_cast<int>(writer), next[writer]++));
  }
  const auto report = snapshot.Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->findings.empty());
}

}  // namespace cairn::test
