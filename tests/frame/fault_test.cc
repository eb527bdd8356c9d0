// Every operation on the disk fails once, in every way: what is found afterwards is the state
// before or after the commit under way.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/journal.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

// States of a frame, oldest first; none stands for no frame.
using States = std::vector<std::optional<FrameContent>>;

// The state that a procedure works with, and leaves for the checks.
struct Trial {
  std::shared_ptr<FaultFileSystem> files;
  std::string path;
  size_t acknowledged = 0;  // number of the state that the last successful commit gave
  std::optional<Writer> writer = {};

  absl::Status Acknowledge(const absl::Status& commit) {
    if (commit.ok()) ++acknowledged;
    return commit;
  }
  absl::Status OpenWriter() {
    CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, {.file_system = files}));
    CAIRN_ASSIGN_OR_RETURN(writer, frame.OpenWriter());
    return absl::OkStatus();
  }
};

struct Procedure {
  std::string name;
  std::function<absl::Status(const std::string&)> prepare;  // on a healthy disk
  std::function<absl::Status(Trial&)> run;
  States states;
  // True if it swaps a directory with the one that it replaces. The old one may then stay under the
  // temporary name.
  bool swaps = false;
};

std::ostream& operator<<(std::ostream& out, const Procedure& procedure) {
  return out << procedure.name;
}

// Chunks of more than the writer gathers before it writes, and of less.
constexpr int32_t kLargeChunk = 600 << 10;

// Returns the first of always the same bytes, because they take long to make.
Buffer First(size_t size) {
  static const Buffer all = MakeNoise(4 * kLargeChunk, 1);
  return ToVector(Bytes(all).first(size));
}

// On a healthy disk. No test cuts the power.
std::shared_ptr<FileSystem> Unsynced() {
  static const auto files = std::make_shared<UnsyncedFileSystem>();
  return files;
}

CreateOptions In(Layout layout, int32_t chunksize) {
  CreateOptions options = PlainCopies(chunksize);
  options.layout = layout;
  options.file_system = Unsynced();
  return options;
}

CreateOptions OptionsOn(const std::shared_ptr<FileSystem>& files,
                        Layout layout = Layout::kContiguous) {
  CreateOptions options = In(layout, kLargeChunk);
  options.file_system = files;
  return options;
}

std::string NameIn(Layout layout, std::string name) {
  return (layout == Layout::kSparse ? "Sparse" : "") + name;
}

absl::Status Nothing(const std::string& /*path*/) { return absl::OkStatus(); }

Procedure CreateProcedure() {
  return {.name = "Create",
          .prepare = Nothing,
          .run = [](Trial& run) -> absl::Status {
            return run.Acknowledge(Frame::Create(run.path, OptionsOn(run.files)).status());
          },
          .states = {std::nullopt, FrameContent{}}};
}

Procedure OverwriteProcedure(Layout before, Layout after) {
  return {.name = NameIn(after, "CreateOver") + NameIn(before, "File"),
          .prepare =
              [before](const std::string& path) {
                return WriteFrame(path, In(before, 64), First(100));
              },
          .run = [after](Trial& run) -> absl::Status {
            CreateOptions options = OptionsOn(run.files, after);
            options.overwrite = true;
            return run.Acknowledge(Frame::Create(run.path, options).status());
          },
          .states = {FrameContent{.data = First(100)}, FrameContent{}},
          .swaps = before == Layout::kSparse || after == Layout::kSparse};
}

Procedure BuildProcedure(Layout layout) {
  return {.name = NameIn(layout, "BuildAppendClose"),
          .prepare = Nothing,
          .run = [layout](Trial& run) -> absl::Status {
            CAIRN_ASSIGN_OR_RETURN(run.writer,
                                   Frame::BeginCreate(run.path, OptionsOn(run.files, layout)));
            CAIRN_RETURN_IF_ERROR(run.writer->Append(First(3 * kLargeChunk + 7)));
            return run.Acknowledge(run.writer->Close());
          },
          .states = {std::nullopt, FrameContent{.data = First(3 * kLargeChunk + 7)}}};
}

Procedure AppendProcedure(Layout layout) {
  constexpr size_t kBefore = 100;
  constexpr size_t kBetween = 3 * kLargeChunk;
  constexpr size_t kAfter = kBetween + 1000;
  return {
      .name = NameIn(layout, "AppendCommitAppendClose"),
      .prepare =
          [layout](const std::string& path) {
            return WriteFrame(path, In(layout, kLargeChunk), First(kBefore), {{"note", "kept"}});
          },
      .run = [](Trial& run) -> absl::Status {
        CAIRN_RETURN_IF_ERROR(run.OpenWriter());
        const Buffer all = First(kAfter);
        CAIRN_RETURN_IF_ERROR(run.writer->Append(Bytes(all).subspan(kBefore, kBetween - kBefore)));
        CAIRN_RETURN_IF_ERROR(run.Acknowledge(run.writer->Commit().status()));
        CAIRN_RETURN_IF_ERROR(run.writer->Append(Bytes(all).subspan(kBetween)));
        return run.Acknowledge(run.writer->Close());
      },
      .states = {FrameContent{.data = First(kBefore), .vlmetalayers = {{"note", "kept"}}},
                 FrameContent{.data = First(kBetween), .vlmetalayers = {{"note", "kept"}}},
                 FrameContent{.data = First(kAfter), .vlmetalayers = {{"note", "kept"}}}}};
}

// Chunks of 64 bytes, each of noise with a seed of its own.
FrameContent OfChunks(const std::vector<uint64_t>& seeds) {
  FrameContent content;
  for (const uint64_t seed : seeds) {
    const Buffer chunk = MakeNoise(64, seed);
    content.data.insert(content.data.end(), chunk.begin(), chunk.end());
  }
  return content;
}

Procedure EditProcedure(Layout layout) {
  return {.name = NameIn(layout, "EditCommitEditClose"),
          .prepare =
              [layout](const std::string& path) {
                return WriteFrame(path, In(layout, 64), OfChunks({1, 2, 3, 4}).data);
              },
          .run = [](Trial& run) -> absl::Status {
            CAIRN_RETURN_IF_ERROR(run.OpenWriter());
            CAIRN_RETURN_IF_ERROR(run.writer->InsertChunk(1, MakeNoise(64, 5)));
            CAIRN_RETURN_IF_ERROR(run.writer->UpdateChunk(0, MakeNoise(64, 6)));
            CAIRN_RETURN_IF_ERROR(run.writer->DeleteChunks(2, 1));
            CAIRN_RETURN_IF_ERROR(run.Acknowledge(run.writer->Commit().status()));
            CAIRN_RETURN_IF_ERROR(run.writer->ReorderChunks(std::vector<int64_t>{3, 1, 0, 2}));
            CAIRN_RETURN_IF_ERROR(run.writer->WriteItems(64, MakeNoise(64, 7)));
            return run.Acknowledge(run.writer->Close());
          },
          .states = {OfChunks({1, 2, 3, 4}), OfChunks({6, 5, 3, 4}), OfChunks({4, 7, 6, 3})}};
}

// The content stays; the state counts as a new one all the same.
Procedure CompactProcedure(Layout layout) {
  return {.name = NameIn(layout, "Compact"),
          .prepare = [layout](const std::string& path) -> absl::Status {
            CAIRN_RETURN_IF_ERROR(WriteFrame(path, In(layout, 64), OfChunks({1, 2}).data));
            return AppendTo(path, MakeNoise(64, 3), {}, Unsynced());
          },
          .run = [](Trial& run) -> absl::Status {
            CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(run.path, {.file_system = run.files}));
            return run.Acknowledge(frame.Compact().status());
          },
          .states = {OfChunks({1, 2, 3}), OfChunks({1, 2, 3})}};
}

Procedure VlmetaProcedure(Layout layout) {
  return {.name = NameIn(layout, "SetVlmetaOnEmpty"),
          .prepare =
              [layout](const std::string& path) {
                return Frame::Create(path, In(layout, kLargeChunk)).status();
              },
          .run = [](Trial& run) -> absl::Status {
            CAIRN_RETURN_IF_ERROR(run.OpenWriter());
            CAIRN_RETURN_IF_ERROR(run.writer->SetVlmetalayer("a", AsBytes("first")));
            CAIRN_RETURN_IF_ERROR(run.Acknowledge(run.writer->Commit().status()));
            CAIRN_RETURN_IF_ERROR(run.writer->SetVlmetalayer("a", AsBytes("second")));
            return run.Acknowledge(run.writer->Close());
          },
          .states = {FrameContent{}, FrameContent{.vlmetalayers = {{"a", "first"}}},
                     FrameContent{.vlmetalayers = {{"a", "second"}}}}};
}

// With `size` bytes of metalayer the header is that much longer.
Procedure MetalayerProcedure(std::string name, size_t size) {
  const auto with = [size](char c) {
    return FrameContent{.data = First(100), .metalayers = {{"m", std::string(size, c)}}};
  };
  return {.name = std::move(name),
          .prepare =
              [size](const std::string& path) {
                CreateOptions options = In(Layout::kContiguous, 64);
                options.metalayers = {
                    {.name = "m", .content = ToVector(AsBytes(std::string(size, 'a')))}};
                return WriteFrame(path, options, First(100));
              },
          .run = [size](Trial& run) -> absl::Status {
            CAIRN_RETURN_IF_ERROR(run.OpenWriter());
            CAIRN_RETURN_IF_ERROR(run.writer->SetMetalayer("m", AsBytes(std::string(size, 'b'))));
            return run.Acknowledge(run.writer->Close());
          },
          .states = {with('a'), with('b')}};
}

void ExpectRefusesEverything(Writer& writer) {
  const auto refuses = [](const absl::Status& status) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  };
  writer.Rollback();
  refuses(writer.Append(AsBytes("x")));
  refuses(writer.AppendCompressed(AsBytes("x")));
  refuses(writer.AppendSpecial(SpecialValue::kZeros, 1));
  refuses(writer.InsertChunk(0, AsBytes("x")));
  refuses(writer.UpdateChunk(0, AsBytes("x")));
  refuses(writer.DeleteChunks(0, 0));
  refuses(writer.ReorderChunks({}));
  refuses(writer.SetMetalayer("m", AsBytes("x")));
  refuses(writer.SetVlmetalayer("a", AsBytes("x")));
  refuses(writer.DeleteVlmetalayer("a"));
  refuses(writer.StagedSnapshot().status());
  refuses(writer.Commit().status());
  refuses(writer.Checkpoint());
  refuses(writer.Close());
}

const absl::Status kBrokenDisk = absl::InternalError("injected: input/output error");

// Edits that were staged on a full disk can be dropped. A commit that failed there may be known to
// have changed nothing.
void ExpectRefusesEverythingOrGoesOn(Writer& writer) {
  writer.Rollback();
  const absl::Status status = writer.SetVlmetalayer("other", AsBytes("x"));
  EXPECT_TRUE(status.ok() || absl::IsFailedPrecondition(status)) << status;
}

class FaultTest : public testing::TestWithParam<Procedure> {
 protected:
  const Procedure& procedure() const { return GetParam(); }

  // Operations of the procedure on a healthy disk.
  std::vector<Operation> Record() const;
  // Prepares, runs with the fault, and checks what is there. False when nothing failed.
  bool FailAndCheck(const Fault& fault) const;
  void CheckDisk(const std::string& path, size_t acknowledged) const;
};

std::vector<Operation> FaultTest::Record() const {
  const TempDir dir;
  FaultFileSystem files;
  Trial run{.files = Unowned(&files), .path = dir.Path("f")};
  EXPECT_TRUE(IsOk(procedure().prepare(run.path)));
  files.StartLog();
  EXPECT_TRUE(IsOk(procedure().run(run)));
  EXPECT_EQ(run.acknowledged + 1, procedure().states.size());
  CheckDisk(run.path, run.acknowledged);
  return files.TakeLog();
}

void FaultTest::CheckDisk(const std::string& path, size_t acknowledged) const {
  const States& states = procedure().states;
  std::optional<FrameContent> found;
  const absl::StatusOr<Frame> frame = Frame::Open(path);
  if (frame.ok()) {
    const auto report = frame->snapshot().Verify();
    ASSERT_TRUE(IsOk(report));
    EXPECT_TRUE(report->ok()) << report->findings[0].section << ": " << report->findings[0].reason;
    EXPECT_TRUE(report->sealed);
    auto content = FullContentOf(frame->snapshot());
    ASSERT_TRUE(IsOk(content));
    found = *std::move(content);
  } else {
    EXPECT_TRUE(absl::IsNotFound(frame.status())) << frame.status();
  }
  const bool before = found == states[acknowledged];
  const bool after = acknowledged + 1 < states.size() && found == states[acknowledged + 1];
  EXPECT_TRUE(before || after) << "neither state " << acknowledged << " nor the next";
}

bool FaultTest::FailAndCheck(const Fault& fault) const {
  const TempDir dir;
  FaultFileSystem files;
  Trial run{.files = Unowned(&files), .path = dir.Path("f")};
  EXPECT_TRUE(IsOk(procedure().prepare(run.path)));
  files.Inject(fault);
  const absl::Status status = procedure().run(run);
  const bool failed = !status.ok();
  if (failed && run.writer.has_value()) {
    const bool full = absl::IsResourceExhausted(fault.status);
    full ? ExpectRefusesEverythingOrGoesOn(*run.writer) : ExpectRefusesEverything(*run.writer);
  }
  CheckDisk(run.path, run.acknowledged);
  // Nor may the end of the writer do harm.
  run.writer.reset();
  CheckDisk(run.path, run.acknowledged);
  if (!fault.disk_gone) {
    for (const std::string& name : NamesIn(dir.path())) {
      EXPECT_TRUE(name == "f" || (procedure().swaps && name.ends_with(".tmp"))) << name;
    }
  }
  if (const auto frame = Frame::Open(run.path); frame.ok()) {
    files.Heal();
    EXPECT_TRUE(IsOk(AppendTo(run.path, AsBytes("more"), {}, Unsynced())));
    const auto reopened = Frame::Open(run.path);
    EXPECT_TRUE(reopened.ok() && reopened->snapshot().Verify()->ok());
  }
  return failed;
}

// These failures do not matter: files that are left are removed later, and a write that finds no
// space will report it itself.
bool MayFailUnseen(const Operation& operation) {
  return operation.kind == Operation::Kind::kRemove ||
         operation.kind == Operation::Kind::kReserve ||
         operation.kind == Operation::Kind::kAllocate ||
         operation.kind == Operation::Kind::kRemoveDirectory;
}

TEST_P(FaultTest, OneFailedOperationLeavesACommittedState) {
  const std::vector<Operation> log = Record();
  ASSERT_FALSE(log.empty());
  for (size_t n = 0; n < log.size(); ++n) {
    SCOPED_TRACE(n);
    const bool failed = FailAndCheck({.after = static_cast<int64_t>(n), .status = kBrokenDisk});
    EXPECT_NE(failed, MayFailUnseen(log[n]));
  }
  EXPECT_FALSE(FailAndCheck({.after = static_cast<int64_t>(log.size())}));
}

TEST_P(FaultTest, DiskThatGoesLeavesACommittedState) {
  const std::vector<Operation> log = Record();
  for (size_t n = 0; n < log.size(); ++n) {
    SCOPED_TRACE(n);
    const bool failed =
        FailAndCheck({.after = static_cast<int64_t>(n), .status = kBrokenDisk, .disk_gone = true});
    const bool removing =
        std::all_of(log.begin() + static_cast<std::ptrdiff_t>(n), log.end(), MayFailUnseen);
    EXPECT_TRUE(failed || removing);
  }
}

// The one write that moves a published frame to its next state reaches the disk completely or not
// at all: it is a part of one sector. All others may stop halfway.
bool IsHeaderFlip(const std::vector<Operation>& log, size_t n) {
  if (log[n].kind != Operation::Kind::kWrite || log[n].offset != 0) return false;
  if (log[n].bytes.size() > 512) return false;
  bool created = false;
  for (size_t i = 0; i < n; ++i) {
    if (log[i].kind == Operation::Kind::kCreate && log[i].file == log[n].file) created = true;
    if (log[i].kind == Operation::Kind::kRename && log[i].path == log[n].path) return true;
  }
  return !created;
}

TEST_P(FaultTest, ShortWriteLeavesACommittedState) {
  const std::vector<Operation> log = Record();
  for (size_t n = 0; n < log.size(); ++n) {
    if (log[n].kind != Operation::Kind::kWrite || IsHeaderFlip(log, n)) continue;
    SCOPED_TRACE(n);
    Fault fault = {.after = static_cast<int64_t>(n), .status = kBrokenDisk, .short_write = true};
    EXPECT_TRUE(FailAndCheck(fault));
    fault.disk_gone = true;
    EXPECT_TRUE(FailAndCheck(fault));
  }
}

// The record where a journal ended: a full disk may have no room for it, and the checkpoint that
// follows is durable without.
bool EndsJournal(const Operation& operation) {
  return operation.kind == Operation::Kind::kWrite &&
         format::FindEnded(operation.bytes, operation.offset).has_value();
}

TEST_P(FaultTest, FullDiskLeavesACommittedState) {
  const std::vector<Operation> log = Record();
  for (size_t n = 0; n < log.size(); ++n) {
    SCOPED_TRACE(n);
    FailAndCheck({.after = static_cast<int64_t>(n), .short_write = !IsHeaderFlip(log, n)});
    const bool failed = FailAndCheck({.after = static_cast<int64_t>(n), .disk_gone = true});
    const bool unseen =
        std::all_of(log.begin() + static_cast<std::ptrdiff_t>(n), log.end(),
                    [](const Operation& each) { return MayFailUnseen(each) || EndsJournal(each); });
    EXPECT_TRUE(failed || unseen);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Procedures, FaultTest,
    testing::Values(CreateProcedure(), OverwriteProcedure(Layout::kContiguous, Layout::kContiguous),
                    OverwriteProcedure(Layout::kSparse, Layout::kSparse),
                    OverwriteProcedure(Layout::kSparse, Layout::kContiguous),
                    OverwriteProcedure(Layout::kContiguous, Layout::kSparse),
                    BuildProcedure(Layout::kContiguous), BuildProcedure(Layout::kSparse),
                    AppendProcedure(Layout::kContiguous), AppendProcedure(Layout::kSparse),
                    EditProcedure(Layout::kContiguous), EditProcedure(Layout::kSparse),
                    CompactProcedure(Layout::kContiguous), CompactProcedure(Layout::kSparse),
                    VlmetaProcedure(Layout::kContiguous), VlmetaProcedure(Layout::kSparse),
                    MetalayerProcedure("SetMetalayerInOneSector", 40),
                    MetalayerProcedure("SetMetalayerInALongHeader", 600)),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace cairn::test
