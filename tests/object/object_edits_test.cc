// Random edits by several writers of one frame in an object store, over a bad network, against a
// plain model of what is committed.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/object/memory_object_store.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/fault_object_store.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int32_t kChunkBytes = 64;
constexpr int64_t kColumns = 5;

enum class Kind { kItems, kVariable, kLine, kGrid, kUploaded };
constexpr const char* kNames[] = {"Items", "Variable", "Line", "Grid", "Uploaded"};

// What is in a frame: chunks of any size, or one that stands for all.
struct Plain {
  std::vector<Buffer> chunks = {Buffer()};
  std::map<std::string, std::string> layers;
  bool operator==(const Plain&) const = default;
};

void PrintTo(const Plain& plain, std::ostream* stream) {
  for (const Buffer& chunk : plain.chunks) {
    *stream << " chunk of " << chunk.size() << ", hash " << Xxh3(chunk);
  }
  for (const auto& [name, value] : plain.layers) *stream << ' ' << name << '=' << value;
}

// Where a writer's edits come to be: what it appended moves behind what others appended before, and
// its edits of that move with it.
struct Shift {
  size_t begin = 0;  // bytes that its base had, or chunks of any size
  ptrdiff_t by = 0;
  size_t operator()(size_t at) const { return at < begin ? at : at + static_cast<size_t>(by); }
};

// One edit, of a writer and of the model.
struct PlainEdit {
  std::string name;
  std::function<absl::Status(Writer&)> make;
  std::function<void(Plain&, const Shift&)> apply;
  bool appends = false;
};

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
  EditedObjectFrame(Kind kind, uint64_t seed) : kind_(kind), dice_(seed) {}

  void Run();

 private:
  static constexpr FaultChances kChances = {.unavailable = 3,
                                            .lost = 2,
                                            .answer_lost = 3,
                                            .delayed = 3,
                                            .repeated = 4,
                                            .reads_unavailable = 2};

  bool is_array() const { return kind_ == Kind::kLine || kind_ == Kind::kGrid; }
  int32_t typesize() const { return is_array() ? 4 : 1; }
  CreateOptions Options() const;
  void Make();
  void Upload();
  Frame Open();
  void OpenWriter(Author& author);
  void Step();
  PlainEdit ChooseEdit(const Plain& view);
  PlainEdit AppendSome();
  PlainEdit UpdateSome(const Plain& view);
  PlainEdit DeleteSome(const Plain& view);
  PlainEdit SetLayer();
  void Edit(Author& author);
  void Commit(Author& author);
  void Checkpoint(Author& author);
  void GoBack(Author& author);
  void Judge(Author& author, const absl::Status& status);
  bool Resolve(const PlainCommit& commit);
  void Finish();
  absl::StatusOr<Plain> Read(const Snapshot& snapshot) const;
  Plain ReadNew();
  size_t SizeOf(const Plain& plain) const {
    return kind_ == Kind::kVariable ? plain.chunks.size() : plain.chunks[0].size();
  }
  Plain With(Plain plain, const PlainCommit& commit) const {
    const Shift shift = {
        .begin = commit.base,
        .by = static_cast<ptrdiff_t>(SizeOf(plain)) - static_cast<ptrdiff_t>(commit.base)};
    for (const PlainEdit& edit : commit.edits) edit.apply(plain, shift);
    return plain;
  }

  const Kind kind_;
  Dice dice_;
  std::shared_ptr<object::MemoryObjectStore> memory_ =
      std::make_shared<object::MemoryObjectStore>();
  std::shared_ptr<FaultObjectStore> store_ =
      std::make_shared<FaultObjectStore>(memory_, dice_.Next());
  std::shared_ptr<FileSystem> files_ = MakeObjectFileSystem(store_);
  Plain committed_;
  std::vector<PlainCommit> unknown_;  // commits that may come late
  std::vector<Author> authors_;
  std::optional<Frame> reader_;
};

CreateOptions EditedObjectFrame::Options() const {
  CreateOptions options = Cut(typesize(), kChunkBytes);
  if (kind_ == Kind::kVariable) options.chunksize = CreateOptions::kVariableChunks;
  if (kind_ == Kind::kLine) {
    options.array = ArrayInfo{.shape = {0}, .chunkshape = {16}, .blockshape = {4}};
  }
  if (kind_ == Kind::kGrid) {
    options.array = ArrayInfo{.shape = {0, kColumns}, .chunkshape = {3, 4}, .blockshape = {2, 2}};
  }
  options.layout = Layout::kSparse;
  options.file_system = files_.get();
  return options;
}

void EditedObjectFrame::Make() {
  if (kind_ == Kind::kUploaded) return Upload();
  auto writer = Frame::Build("f", Options());
  ASSERT_TRUE(IsOk(writer));
  if (kind_ == Kind::kVariable) committed_.chunks.clear();
  const PlainEdit edit = AppendSome();
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
  auto writer = Frame::Build(path, options);
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 3; ++i) {
    const PlainEdit edit = AppendSome();
    ASSERT_TRUE(IsOk(edit.make(*writer)));
    edit.apply(committed_, {});
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    ASSERT_TRUE(IsOk(memory_->PutIfAbsent("f/" + name, FileBytes(entry.path().string()))));
  }
}

Frame EditedObjectFrame::Open() {
  store_->SetChances({});
  auto frame = Frame::Open("f", {.file_system = files_.get()});
  EXPECT_TRUE(IsOk(frame));
  return *std::move(frame);
}

void EditedObjectFrame::OpenWriter(Author& author) {
  Frame frame = Open();
  store_->SetChances(kChances);
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

PlainEdit EditedObjectFrame::AppendSome() {
  const auto size = static_cast<size_t>(typesize());
  const size_t count = kind_ == Kind::kGrid ? static_cast<size_t>(kColumns) * (1 + dice_.Below(4))
                                            : 1 + dice_.Below(150 / size);
  const Buffer items = MakeItems(count * size, dice_.Next());
  const bool along = is_array();
  const bool apart = kind_ == Kind::kVariable;
  return {.name = absl::StrFormat("append %d", items.size()),
          .make =
              [items, along](Writer& writer) {
                return along ? writer.AppendAlong(0, items) : writer.Append(items);
              },
          .apply =
              [items, apart](Plain& plain, const Shift& /*shift*/) {
                if (apart) plain.chunks.emplace_back();
                AddTo(plain.chunks.back(), items);
              },
          .appends = true};
}

PlainEdit EditedObjectFrame::UpdateSome(const Plain& view) {
  if (kind_ == Kind::kVariable) {
    if (view.chunks.empty()) return AppendSome();
    const size_t n = dice_.Below(view.chunks.size());
    const Buffer items = MakeItems(1 + dice_.Below(100), dice_.Next());
    return {
        .name = absl::StrFormat("update chunk %d to %d", n, items.size()),
        .make = [n, items](
                    Writer& writer) { return writer.UpdateChunk(static_cast<int64_t>(n), items); },
        .apply = [n, items](Plain& plain, const Shift& shift) { plain.chunks[shift(n)] = items; }};
  }
  const size_t item = static_cast<size_t>(typesize()) * (kind_ == Kind::kGrid ? kColumns : 1);
  const size_t count = view.chunks[0].size() / item;
  if (count == 0) return AppendSome();
  const size_t first = dice_.Below(count);
  const size_t some = 1 + dice_.Below(std::min<size_t>(count - first, 40));
  const Buffer items = MakeItems(some * item, dice_.Next());
  const bool is_grid = kind_ == Kind::kGrid;
  const bool in_box = is_array();
  return {.name = absl::StrFormat("update %d from %d", some, first),
          .make =
              [=](Writer& writer) {
                const auto begin = static_cast<int64_t>(first);
                const auto rows = static_cast<int64_t>(some);
                if (!in_box) return writer.UpdateItems(begin, items);
                if (is_grid) return writer.WriteBox({{begin, 0}}, {{rows, kColumns}}, items);
                return writer.WriteBox({{begin}}, {{rows}}, items);
              },
          .apply =
              [=](Plain& plain, const Shift& shift) {
                for (size_t i = 0; i < items.size(); ++i) {
                  plain.chunks[0][shift(first * item + i)] = items[i];
                }
              }};
}

PlainEdit EditedObjectFrame::DeleteSome(const Plain& view) {
  const bool variable = kind_ == Kind::kVariable;
  const size_t count = variable ? view.chunks.size() : view.chunks[0].size() / kChunkBytes;
  if (count == 0 || is_array()) return UpdateSome(view);
  const size_t n = dice_.Below(count);
  return {.name = absl::StrFormat("delete chunk %d", n),
          .make = [n](Writer& writer) { return writer.DeleteChunks(static_cast<int64_t>(n), 1); },
          .apply =
              [n, variable](Plain& plain, const Shift& shift) {
                if (variable) {
                  plain.chunks.erase(plain.chunks.begin() + static_cast<ptrdiff_t>(shift(n)));
                } else {
                  const auto begin =
                      plain.chunks[0].begin() + static_cast<ptrdiff_t>(shift(n * kChunkBytes));
                  plain.chunks[0].erase(begin, begin + kChunkBytes);
                }
              }};
}

PlainEdit EditedObjectFrame::SetLayer() {
  const std::string name = "layer" + std::to_string(dice_.Below(3));
  const std::string value = "value " + std::to_string(dice_.Below(1000));
  return {
      .name = "set " + name,
      .make = [name, value](Writer& writer) { return writer.SetVlmetalayer(name, AsBytes(value)); },
      .apply = [name, value](Plain& plain, const Shift& /*shift*/) { plain.layers[name] = value; }};
}

PlainEdit EditedObjectFrame::ChooseEdit(const Plain& view) {
  const size_t roll = dice_.Below(100);
  if (roll < 50) return AppendSome();
  if (roll < 80) return UpdateSome(view);
  if (roll < 85) return DeleteSome(view);
  return SetLayer();
}

void EditedObjectFrame::Edit(Author& author) {
  if (author.refused) GoBack(author);
  const PlainEdit edit = ChooseEdit(author.view);
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
  if (kind_ == Kind::kVariable) {
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
  if (!is_array()) {
    const auto data = DataOf(snapshot);
    if (!data.ok()) return data.status();
    plain.chunks[0] = *data;
    return plain;
  }
  const std::vector<int64_t> shape = snapshot.array()->shape;
  const std::vector<int64_t> start(shape.size());
  int64_t bytes = typesize();
  for (const int64_t extent : shape) bytes *= extent;
  plain.chunks[0].resize(static_cast<size_t>(bytes));
  if (const absl::Status status = snapshot.ReadBox(start, shape, plain.chunks[0]); !status.ok()) {
    return status;
  }
  return plain;
}

Plain EditedObjectFrame::ReadNew() {
  const Frame frame = Open();
  auto plain = Read(frame.snapshot());
  store_->SetChances(kChances);
  EXPECT_TRUE(IsOk(plain));
  return plain.ok() ? *plain : Plain();
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
  if (absl::IsAborted(status) && store_->faults() == author.faults && !is_array()) {
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
    store_->SetChances(kChances);
    ASSERT_TRUE(IsOk(plain));
    EXPECT_EQ(*plain, committed_);
  }
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
  EXPECT_EQ(ReadNew(), committed_);
  const Frame frame = Open();
  const auto report = frame.snapshot().Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->findings.empty());
}

void EditedObjectFrame::Run() {
  ASSERT_NO_FATAL_FAILURE(Make());
  ASSERT_EQ(ReadNew(), committed_);
  authors_.resize(2 + dice_.Below(2));
  for (Author& author : authors_) ASSERT_NO_FATAL_FAILURE(OpenWriter(author));
  reader_.emplace(Open());
  store_->SetChances(kChances);
  for (int step = 0; step < 40 && !testing::Test::HasFailure(); ++step) Step();
  if (!testing::Test::HasFailure()) Finish();
}

class ObjectEditsTest : public testing::TestWithParam<Kind> {};

TEST_P(ObjectEditsTest, AFrameIsWhatWasCommittedWhateverTheNetworkDoes) {
  for (int64_t i = 0; i < SearchRuns(200) && !HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "sequence " << i);
    EditedObjectFrame(GetParam(), static_cast<uint64_t>(i)).Run();
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ObjectEditsTest,
                         testing::Values(Kind::kItems, Kind::kVariable, Kind::kLine, Kind::kGrid,
                                         Kind::kUploaded),
                         [](const auto& kind) {
                           return std::string(kNames[static_cast<size_t>(kind.param)]);
                         });

}  // namespace
}  // namespace cairn::test
