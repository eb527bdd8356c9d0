#include "tests/crash/examiner.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"

#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "tests/crash/line.h"
#include "tests/crash/opened_frame.h"

namespace cairn::test {

namespace {

// An error for anything that is not as it must be.
absl::StatusOr<uint64_t> ReadAndVerify(const Snapshot& snapshot) {
  CAIRN_ASSIGN_OR_RETURN(const uint64_t content, ReadContent(snapshot));
  CAIRN_ASSIGN_OR_RETURN(const VerifyReport report, snapshot.Verify());
  if (report.ok()) return content;
  return DataLoss("%s: %s", report.findings[0].section, report.findings[0].reason);
}

absl::Status ExpectState(const absl::StatusOr<OpenedFrame>& frame, const FrameModel& expected) {
  CAIRN_RETURN_IF_ERROR(frame.status());
  CAIRN_ASSIGN_OR_RETURN(const uint64_t content, ReadAndVerify(frame->snapshot()));
  if (content != ContentOf(expected)) return DataLoss("another state");
  return absl::OkStatus();
}

absl::Status ExpectState(const absl::StatusOr<Snapshot>& snapshot, const FrameModel& expected) {
  CAIRN_RETURN_IF_ERROR(snapshot.status());
  CAIRN_ASSIGN_OR_RETURN(const uint64_t content, ReadContent(*snapshot));
  if (content != ContentOf(expected)) return DataLoss("another state");
  return absl::OkStatus();
}

std::string Fault(const char* what, const absl::Status& status) {
  return status.ok() ? std::string() : absl::StrCat(what, ": ", status.ToString());
}

}  // namespace

void Examiner::CrashBefore(const DiskOperation& operation, const SimulatedDisk& disk,
                           const History& history, size_t draws) {
  Examine(*disk.Clone(), history, Durability::kProcess);
  if (operation.kind == DiskOperation::Kind::kWrite) {
    // The kernel may stop between two sectors of a write.
    constexpr int64_t kSector = SimulatedInode::kSector;
    const int64_t first = operation.offset / kSector + 1;
    const int64_t last = (operation.offset + std::ssize(operation.bytes) - 1) / kSector;
    if (first <= last) {
      const auto sectors = static_cast<size_t>(last - first + 1);
      const int64_t end = (first + static_cast<int64_t>(dice_.Below(sectors))) * kSector;
      const auto torn = disk.Clone();
      torn->DoPart(operation, static_cast<size_t>(end - operation.offset));
      Examine(*torn, history, Durability::kProcess);
    }
  }
  for (const int64_t time : disk.PendingTimes()) {
    Examine(*disk.PowerLossAt(time), history, Durability::kMachine);
  }
  for (size_t i = 0; i < draws; ++i) {
    Examine(*disk.PowerLoss(dice_), history, Durability::kMachine);
  }
  LookDurably(*disk.Clone());
}

void Examiner::LookDurably(SimulatedDisk& disk) {
  disk.Judge(context_.judge());
  const absl::StatusOr<OpenedFrame> seen =
      OpenedFrame::Open(disk, {.replay = context_.rules, .durable_only = true});
  if (absl::IsNotFound(seen.status())) return;
  if (!seen.ok()) return Report("a durable-only reader does not open", seen.status().ToString());
  const absl::StatusOr<uint64_t> content = ReadContent(seen->snapshot());
  if (!content.ok()) return Report("what is durable cannot be read", content.status().ToString());
  const uint64_t generation = seen->snapshot().info().generation;
  // Nothing is left but what must be, or anything.
  for (const auto& after : {disk.PowerLossAt(disk.PendingTimes().front()), disk.PowerLoss(dice_)}) {
    tally_.CountState();
    const absl::StatusOr<OpenedFrame> left = Open(*after);
    const bool there = left.ok() && left->snapshot().info().generation >= generation &&
                       (left->snapshot().info().generation > generation ||
                        ReadContent(left->snapshot()).value_or(~*content) == *content);
    if (!there) return Report("what a durable-only reader saw is lost");
  }
}

std::optional<size_t> Examiner::Examine(SimulatedDisk& disk, const History& history,
                                        Durability survived) {
  const auto [entry, is_new] = findings_.try_emplace(disk.Hash());
  if (is_new) {
    tally_.CountState();
    entry->second = Read(disk);
  }
  const std::optional<size_t> state = Judge(entry->second, history, survived);
  if (state.has_value() && is_new && entry->second.content != History::kNothing &&
      dice_.Percent(context_.written)) {
    const auto copy = disk.Clone();
    const std::string fault = GoOn(*copy, history.model(*state));
    if (!fault.empty()) Report(fault.substr(0, fault.find(':')), fault);
  }
  return state;
}

Examiner::Finding Examiner::Read(SimulatedDisk& disk) const {
  const int64_t operations = disk.operations();
  const absl::StatusOr<OpenedFrame> frame = Open(disk);
  if (absl::IsNotFound(frame.status())) return {.content = History::kNothing};
  if (!frame.ok()) return {.fault = Fault("does not open", frame.status())};
  const absl::StatusOr<uint64_t> content = ReadAndVerify(frame->snapshot());
  if (!content.ok()) return {.fault = Fault("cannot be read", content.status())};
  if (disk.operations() != operations) return {.fault = "the reader wrote"};
  return {.content = *content};
}

bool Examiner::TellsDamage(SimulatedDisk& disk) const {
  const absl::StatusOr<OpenedFrame> frame = Open(disk);
  return absl::IsDataLoss(frame.ok() ? ReadAndVerify(frame->snapshot()).status() : frame.status());
}

std::optional<size_t> Examiner::Judge(const Finding& finding, const History& history,
                                      Durability survived) {
  if (!finding.fault.empty()) {
    Report(finding.fault.substr(0, finding.fault.find(':')), finding.fault);
    return std::nullopt;
  }
  const std::optional<size_t> state = history.Find(finding.content);
  if (!state.has_value()) {
    Report(finding.content == History::kNothing ? "the frame is gone" : "no committed state");
    return std::nullopt;
  }
  if (*state < history.oldest(survived)) {
    Report(survived == Durability::kProcess ? "a commit is lost by a kill"
                                            : "a commit is lost by a power cut",
           absl::StrFormat("state %d, acknowledged %d", *state, history.oldest(survived)));
    return std::nullopt;
  }
  return state;
}

std::string Examiner::GoOn(SimulatedDisk& disk, const FrameModel& found) {
  disk.Judge(context_.judge());
  FrameModel model = found;
  if (dice_.Percent(25)) {
    const auto report = Recover(OpenedFrame::kPath, {.file_system = disk.root()});
    std::string fault = Fault("is not recovered", report.status());
    if (fault.empty()) fault = Fault("wrong when recovered", ExpectState(Open(disk), model));
    if (!fault.empty()) return fault;
  }
  absl::StatusOr<OpenedFrame> frame = Open(disk);
  if (!frame.ok()) return Fault("does not open again", frame.status());
  WriterOptions options;
  options.chunksize = model.first_chunksize().value_or(options.chunksize);
  absl::StatusOr<Writer> writer = frame->OpenWriter(options);
  if (!writer.ok()) return Fault("does not open for writing", writer.status());
  std::string fault =
      Fault("the writer does not see it", ExpectState(writer->StagedSnapshot(), model));
  if (!fault.empty()) return fault;
  const std::string_view text =
      dice_.Percent(50)
          ? "a few"
          : "more than goes into one chunk, "
            "which is much more than a few, so that chunks and a tail are staged and committed";
  const bool line = IsLine(model);
  line ? AppendToLine(model, AsBytes(text)) : model.Append(AsBytes(text));
  fault = Fault("the writer does not append",
                line ? writer->AppendSlices(0, AsBytes(text)) : writer->Append(AsBytes(text)));
  if (fault.empty()) fault = Fault("the writer does not commit", writer->Commit().status());
  if (fault.empty()) {
    fault = Fault("lost after recovery", ExpectState(Open(*disk.PowerLoss(dice_)), model));
  }
  if (!fault.empty()) return fault;
  const size_t ending = dice_.Below(3);
  if (ending == 0) fault = Fault("the writer does not close", writer->Close());
  if (ending == 1) fault = Fault("the writer makes no checkpoint", writer->Checkpoint());
  writer = absl::CancelledError("gone");
  if (fault.empty()) fault = Fault("wrong after recovery", ExpectState(Open(disk), model));
  if (fault.empty()) {
    fault = Fault("lost after the end", ExpectState(Open(*disk.PowerLoss(dice_)), model));
  }
  return fault;
}

void Examiner::Report(const std::string& kind, const std::string& details) {
  tally_.CountViolation(kind, absl::StrCat(context_.where(), details.empty() ? "" : "; ", details));
}

}  // namespace cairn::test
