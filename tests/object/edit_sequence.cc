#include "tests/object/edit_sequence.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {

namespace {

// The edits of a commit.
struct PlainCommit {
  std::vector<PlainEdit> edits;
  size_t base = 0;  // as Shift::begin
};

struct Author {
  std::optional<Writer> writer;
  Plain view;  // with its edits
  PlainCommit staged;
  int64_t faults = 0;    // of the store, before the first of them
  bool refused = false;  // a commit of them was: they may have moved
};

class EditedObjectFrame {
 public:
  EditedObjectFrame(const EditSequence& sequence, std::shared_ptr<ObjectStore> store)
      : kind_(sequence.kind),
        steps_(sequence.steps),
        chances_(sequence.chances),
        dice_(sequence.seed),
        reliable_(std::move(store)) {}

  void Run();
  int64_t CountStates() const { return std::ssize(states_); }

 private:
  CreateOptions Options() const;
  void Make();
  void Upload();
  Frame Open();
  Frame& Newest();
  void OpenWriter(Author& author);
  void Step();
  void Edit(Author& author);
  void Commit(Author& author);
  void Checkpoint(Author& author);
  void GoBack(Author& author);
  void Judge(Author& author, const absl::Status& status);
  bool Resolve(const PlainCommit& commit);
  void Finish();
  absl::StatusOr<Plain> Read(const Snapshot& snapshot) const;
  Plain ReadNew();
  void CheckHistory(const Frame& frame);
  size_t SizeOf(const Plain& plain) const {
    return kind_ == EditedKind::kVariable ? plain.chunks.size() : plain.chunks[0].size();
  }
  Plain With(Plain plain, const PlainCommit& commit) const {
    const Shift shift = {
        .begin = commit.base,
        .by = static_cast<ptrdiff_t>(SizeOf(plain)) - static_cast<ptrdiff_t>(commit.base)};
    for (const PlainEdit& edit : commit.edits) edit.apply(plain, shift);
    return plain;
  }

  const EditedKind kind_;
  const int steps_;
  const FaultChances chances_;
  Dice dice_;
  RandomEdits edits_{kind_, dice_};
  const std::shared_ptr<ObjectStore> reliable_;
  const std::shared_ptr<FaultObjectStore> store_ =
      std::make_shared<FaultObjectStore>(reliable_, dice_.Next());
  const std::shared_ptr<FileSystem> files_ = MakeObjectFileSystem(store_);
  Plain committed_;
  std::map<uint64_t, Plain> states_;  // by generation
  std::vector<PlainCommit> unknown_;  // commits that may come late
  std::vector<Author> authors_;
  std::optional<Frame> reader_;
};

CreateOptions EditedObjectFrame::Options() const {
  CreateOptions options = Cut(TypesizeOf(kind_), kEditedChunk);
  if (kind_ == EditedKind::kVariable) options.chunksize = ChunkSize::Variable();
  if (kind_ == EditedKind::kLine) {
    options.array = ArrayInfo{.shape = {0}, .chunkshape = {16}, .blockshape = {4}};
  }
  if (kind_ == EditedKind::kGrid) {
    options.array =
        ArrayInfo{.shape = {0, kGridColumns}, .chunkshape = {3, 4}, .blockshape = {2, 2}};
  }
  options.layout = Layout::kSparse;
  options.file_system = files_;
  return options;
}

void EditedObjectFrame::Make() {
  if (kind_ == EditedKind::kUploaded) return Upload();
  auto writer = Frame::BeginCreate("f", Options());
  ASSERT_TRUE(IsOk(writer));
  if (kind_ == EditedKind::kVariable) committed_.chunks.clear();
  const PlainEdit edit = edits_.Append();
  ASSERT_TRUE(IsOk(edit.make(*writer)));
  edit.apply(committed_, {});
  ASSERT_TRUE(IsOk(writer->Commit()));
}

// A directory whose journal has commits and pending items.
void EditedObjectFrame::Upload() {
  const TempDir dir;
  CreateOptions options = Options();
  options.file_system = nullptr;
  const std::string path = dir.path() + "/f";
  auto writer = Frame::BeginCreate(path, options);
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 3; ++i) {
    const PlainEdit edit = edits_.Append();
    ASSERT_TRUE(IsOk(edit.make(*writer)));
    edit.apply(committed_, {});
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    const absl::Status put =
        reliable_->PutIfAbsent("f/" + name, FileBytes(entry.path().string())).status();
    ASSERT_TRUE(put.ok() || absl::IsFailedPrecondition(put)) << put;  // if it was sent twice
  }
}

Frame EditedObjectFrame::Open() {
  store_->SetChances({});
  auto frame = Frame::Open("f", {.file_system = files_});
  EXPECT_TRUE(IsOk(frame));
  return *std::move(frame);
}

// The reader has followed, or is a new one. The network is in order meanwhile.
Frame& EditedObjectFrame::Newest() {
  store_->SetChances({});
  if (!reader_.has_value() || dice_.Percent(30)) {
    reader_.emplace(Open());
  } else {
    EXPECT_TRUE(IsOk(reader_->Refresh()));
  }
  return *reader_;
}

void EditedObjectFrame::OpenWriter(Author& author) {
  Frame& frame = Newest();
  store_->SetChances(chances_);
  auto writer = frame.OpenWriter();
  if (!writer.ok()) {
    store_->SetChances({});
    writer = frame.OpenWriter();
  }
  ASSERT_TRUE(IsOk(writer));
  author.writer.emplace(*std::move(writer));
  author.view = committed_;
  author.staged = {.edits = {}, .base = SizeOf(committed_)};
  author.refused = false;
}

void EditedObjectFrame::Edit(Author& author) {
  if (author.refused) GoBack(author);
  const PlainEdit edit = edits_.Choose(author.view);
  if (author.staged.edits.empty()) author.faults = store_->faults();
  const absl::Status status = edit.make(*author.writer);
  if (!status.ok()) {
    // Some reads fail before the frame is touched.
    EXPECT_NE(store_->faults(), author.faults) << status;
    return GoBack(author);
  }
  edit.apply(author.view, {});
  author.staged.edits.push_back(edit);
}

void EditedObjectFrame::GoBack(Author& author) {
  author.writer->Rollback();
  author.view = committed_;
  author.staged = {.edits = {}, .base = SizeOf(committed_)};
  author.refused = false;
  if (!author.writer->StagedSnapshot().ok()) OpenWriter(author);
}

absl::StatusOr<Plain> EditedObjectFrame::Read(const Snapshot& snapshot) const {
  Plain plain;
  for (const std::string& name : snapshot.vlmetalayers()) {
    const auto content = snapshot.GetVlmetalayer(name);
    if (!content.ok()) return content.status();
    plain.layers[name] = std::string(AsText(*content));
  }
  if (kind_ == EditedKind::kVariable) {
    plain.chunks.clear();
    for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
      const auto size = snapshot.ChunkNbytes(i);
      if (!size.ok()) return size.status();
      Buffer chunk(static_cast<size_t>(*size));
      if (const absl::Status status = snapshot.ReadChunk(i, chunk); !status.ok()) return status;
      plain.chunks.push_back(std::move(chunk));
    }
    return plain;
  }
  if (!IsArray(kind_)) {
    const auto data = DataOf(snapshot);
    if (!data.ok()) return data.status();
    plain.chunks[0] = *data;
    return plain;
  }
  const std::vector<int64_t> shape = snapshot.array()->shape;
  const std::vector<int64_t> start(shape.size());
  int64_t bytes = TypesizeOf(kind_);
  for (const int64_t extent : shape) bytes *= extent;
  plain.chunks[0].resize(static_cast<size_t>(bytes));
  if (const absl::Status status = snapshot.ReadBox(start, shape, plain.chunks[0]); !status.ok()) {
    return status;
  }
  return plain;
}

Plain EditedObjectFrame::ReadNew() {
  const Snapshot& snapshot = Newest().snapshot();
  const auto plain = Read(snapshot);
  store_->SetChances(chances_);
  EXPECT_TRUE(IsOk(plain));
  if (!plain.ok()) return {};
  states_.emplace(snapshot.info().generation, *plain);
  return *plain;
}

// After something whose outcome is not known: the frame is as it was, or has these edits, or those
// of a commit that came late. Whether it has these.
bool EditedObjectFrame::Resolve(const PlainCommit& commit) {
  const Plain now = ReadNew();
  if (now == committed_) return false;
  if (!commit.edits.empty() && now == With(committed_, commit)) {
    committed_ = now;
    return true;
  }
  for (auto it = unknown_.begin(); it != unknown_.end(); ++it) {
    if (now != With(committed_, *it)) continue;
    committed_ = now;
    unknown_.erase(it);
    return false;
  }
  ADD_FAILURE() << "a state that no commit makes";
  return false;
}

void EditedObjectFrame::Judge(Author& author, const absl::Status& status) {
  std::string what = absl::StrFormat("%s, before: %s; edits:", status.ToString(),
                                     testing::PrintToString(committed_));
  for (const PlainEdit& edit : author.staged.edits) what += " " + edit.name + ";";
  SCOPED_TRACE(what);
  if (status.ok()) {
    committed_ = With(committed_, author.staged);
    EXPECT_EQ(ReadNew(), committed_);
    return GoBack(author);  // also where there was nothing to commit
  }
  if (Resolve(author.staged)) {
    // A checkpoint failed after its commit; or nobody knew.
    author.staged = {.edits = {}, .base = SizeOf(committed_)};
    author.view = committed_;
  }
  if (absl::IsAborted(status) && store_->faults() == author.faults && !IsArray(kind_)) {
    EXPECT_FALSE(std::ranges::all_of(author.staged.edits, &PlainEdit::appends)) << status;
  }
  const bool usable = author.writer->StagedSnapshot().ok();
  if (!usable) {
    if (!author.staged.edits.empty()) unknown_.push_back(author.staged);
    return OpenWriter(author);
  }
  author.refused = true;
  if (author.staged.edits.empty() || dice_.Percent(50)) GoBack(author);  // else it is tried again
}

void EditedObjectFrame::Commit(Author& author) { Judge(author, author.writer->Commit().status()); }

void EditedObjectFrame::Checkpoint(Author& author) { Judge(author, author.writer->Checkpoint()); }

void EditedObjectFrame::Step() {
  Author& author = authors_[dice_.Below(authors_.size())];
  const size_t roll = dice_.Below(100);
  if (roll < 55) {
    Edit(author);
  } else if (roll < 80) {
    Commit(author);
  } else if (roll < 88) {
    Checkpoint(author);
  } else if (roll < 92) {
    if (store_->LandOne()) Resolve({});
  } else if (roll < 94) {
    GoBack(author);
  } else {
    const auto seen = reader_->Refresh();
    if (!seen.ok()) return;
    store_->SetChances({});
    const auto plain = Read(*seen);
    store_->SetChances(chances_);
    ASSERT_TRUE(IsOk(plain));
    EXPECT_EQ(*plain, committed_);
  }
}

// A generation that can still be opened is what it was.
void EditedObjectFrame::CheckHistory(const Frame& frame) {
  const auto history = frame.History();
  ASSERT_TRUE(IsOk(history));
  ASSERT_FALSE(history->empty());
  const uint64_t generation = (*history)[dice_.Below(history->size())].generation;
  SCOPED_TRACE(testing::Message() << "generation " << generation);
  const auto past = Frame::Open("f", {.generation = generation, .file_system = files_});
  ASSERT_TRUE(IsOk(past));
  const auto plain = Read(past->snapshot());
  ASSERT_TRUE(IsOk(plain));
  // A checkpoint that commits pending items before changes nothing of what is there.
  const auto seen = states_.lower_bound(generation);
  ASSERT_NE(seen, states_.end());
  EXPECT_EQ(*plain, seen->second);
}

void EditedObjectFrame::Finish() {
  while (store_->LandOne()) Resolve({});
  for (Author& author : authors_) {
    store_->SetChances({});
    std::string what = absl::StrFormat("before: %s; edits:", testing::PrintToString(committed_));
    for (const PlainEdit& edit : author.staged.edits) what += " " + edit.name + ";";
    SCOPED_TRACE(what);
    const absl::Status status = author.writer->Commit().status();
    if (status.ok()) committed_ = With(committed_, author.staged);
    EXPECT_EQ(ReadNew(), committed_) << status;
  }
  const Frame frame = Open();
  const auto plain = Read(frame.snapshot());
  ASSERT_TRUE(IsOk(plain));
  EXPECT_EQ(*plain, committed_);
  const auto report = frame.snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->findings.empty());
  CheckHistory(frame);
}

void EditedObjectFrame::Run() {
  ASSERT_NO_FATAL_FAILURE(Make());
  authors_.resize(2 + dice_.Below(2));
  for (Author& author : authors_) ASSERT_NO_FATAL_FAILURE(OpenWriter(author));
  ASSERT_EQ(ReadNew(), committed_);
  for (int step = 0; step < steps_ && !testing::Test::HasFailure(); ++step) Step();
  if (!testing::Test::HasFailure()) Finish();
}

}  // namespace

int64_t RunEditSequence(const EditSequence& sequence, std::shared_ptr<ObjectStore> store) {
  EditedObjectFrame frame(sequence, std::move(store));
  frame.Run();
  return frame.CountStates();
}

}  // namespace cairn::test
