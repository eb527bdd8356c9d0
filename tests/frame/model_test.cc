// Random sequences of edits against a plain model.
#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "tests/frame/frame_test_data.h"
#include "tests/support/temp_dir.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;
using test::IsOk;

constexpr int kSequences = 300;
constexpr int kEdits = 30;

// What a frame holds.
struct Model {
  Buffer content;
  std::vector<Metalayer> metalayers;
  std::vector<Metalayer> vlmetalayers;
};

void ExpectEqual(const Snapshot& snapshot, const Model& model) {
  test::ExpectHolds(snapshot, model.content);
  EXPECT_EQ(snapshot.metalayers(), model.metalayers);
  std::vector<Metalayer> layers;
  for (const std::string& name : snapshot.vlmetalayers()) {
    const absl::StatusOr<Buffer> content = snapshot.GetVlmeta(name);
    ASSERT_TRUE(IsOk(content));
    layers.push_back({.name = name, .content = *content});
  }
  EXPECT_TRUE(layers == model.vlmetalayers);
}

// One frame on its way through random edits.
class Sequence {
 public:
  explicit Sequence(uint64_t seed) : random_(seed) {
    constexpr int32_t kTypesizes[] = {1, 2, 3, 4, 8, 255, 300};
    typesize_ = kTypesizes[Below(std::size(kTypesizes))];
    in_memory_ = Chance(2);
    Create();
  }

  void Run() {
    for (int i = 0; i < kEdits && !testing::Test::HasFatalFailure(); ++i) Step();
    Close();
  }

 private:
  size_t Below(size_t limit) { return static_cast<size_t>(random_() % limit); }
  bool Chance(size_t out_of) { return Below(out_of) == 0; }
  bool fixed() const { return chunksize_ != 0; }
  std::string NameAtRandom() { return "layer " + std::to_string(Below(18)); }

  void Create() {
    CreateOptions options = test::Cut(typesize_, CreateOptions::kVariableChunks);
    if (!Chance(3)) options.chunksize = static_cast<int32_t>(1 + Below(4000));
    if (Chance(4)) options.fingerprint = FingerprintType::kNone;
    const size_t metalayers = Below(4);
    for (size_t i = 0; i < metalayers; ++i) {
      options.metalayers.push_back({.name = NameOf(i), .content = Buffer(Below(400))});
    }
    staged_.metalayers = committed_.metalayers = options.metalayers;
    frame_ = in_memory_ ? test::NewInMemory(options) : *Frame::Create(path_, options);
    chunksize_ = static_cast<size_t>(frame_->snapshot().info().chunksize);
    writer_ = *frame_->OpenWriter();
  }
  static std::string NameOf(size_t i) { return "fixed " + std::to_string(i); }

  Buffer DataAtRandom(size_t size) {
    if (Chance(4)) return Buffer(size);
    return Chance(2) ? test::MakeItems(size, random_()) : test::MakeNoise(size, random_());
  }

  void Step() {
    switch (Below(12)) {
      case 0:
      case 1:
        return AppendItems();
      case 2:
      case 3:
        return AppendChunk();
      case 4:
      case 5:
        return AppendSpecial();
      case 6:
        return SetMetalayer();
      case 7:
        return SetVlmeta();
      case 8:
        return DeleteVlmeta();
      case 9:
        return Chance(2) ? Rollback() : LookAtStaged();
      case 10:
        return Commit();
      case 11:
        return Chance(2) ? Reopen() : Commit();
    }
  }

  void AppendItems() {
    Buffer items = DataAtRandom(Below(10'000));
    const auto width = static_cast<size_t>(typesize_);
    if (!Chance(5)) items.resize(items.size() / width * width);
    ASSERT_TRUE(IsOk(writer_->Append(items)));
    test::AddTo(staged_.content, items);
  }

  void AppendChunk() {
    const bool whole = fixed() && !Chance(4);
    const Buffer items =
        DataAtRandom(whole ? chunksize_ : 1 + Below(fixed() ? chunksize_ : size_t{5000}));
    const Buffer chunk = test::Compressed(items, test::OfTypesize(typesize_));
    const bool fits = !fixed() || staged_.content.size() % chunksize_ == 0;
    const absl::Status status = writer_->AppendChunk(chunk);
    if (!fits) {
      ASSERT_EQ(status.code(), StatusCode::kFailedPrecondition);
      return;
    }
    ASSERT_TRUE(IsOk(status));
    test::AddTo(staged_.content, items);
  }

  void AppendSpecial() {
    const auto width = static_cast<size_t>(typesize_);
    const size_t count = Below(9000) / width;
    const bool repeat = Chance(2);
    const Buffer value = repeat ? test::MakeNoise(width, random_()) : Buffer();
    const SpecialValue special = repeat      ? SpecialValue::kRepeat
                                 : Chance(2) ? SpecialValue::kZeros
                                             : SpecialValue::kUninit;
    const absl::Status status = writer_->AppendSpecial(special, static_cast<int64_t>(count), value);
    if (staged_.content.size() % width != 0) {
      ASSERT_EQ(status.code(), StatusCode::kFailedPrecondition);
      return;
    }
    ASSERT_TRUE(IsOk(status));
    test::AddTo(staged_.content,
                repeat ? test::Repeated(value, count * width) : Buffer(count * width));
  }

  void SetMetalayer() {
    if (staged_.metalayers.empty()) return;
    Metalayer& layer = staged_.metalayers[Below(staged_.metalayers.size())];
    layer.content = DataAtRandom(layer.content.size());
    ASSERT_TRUE(IsOk(writer_->SetMetalayer(layer.name, layer.content)));
  }

  void SetVlmeta() {
    const Metalayer layer = {.name = NameAtRandom(), .content = DataAtRandom(Below(2000))};
    ASSERT_TRUE(IsOk(writer_->SetVlmeta(layer.name, layer.content)));
    const auto it = std::ranges::find(staged_.vlmetalayers, layer.name, &Metalayer::name);
    if (it == staged_.vlmetalayers.end()) {
      staged_.vlmetalayers.push_back(layer);
    } else {
      *it = layer;
    }
  }

  void DeleteVlmeta() {
    const std::string name = NameAtRandom();
    const absl::Status status = writer_->DeleteVlmeta(name);
    const size_t erased =
        std::erase_if(staged_.vlmetalayers, [&](const Metalayer& m) { return m.name == name; });
    ASSERT_EQ(status.code(), erased == 1 ? StatusCode::kOk : StatusCode::kNotFound);
  }

  void LookAtStaged() {
    const absl::StatusOr<Snapshot> snapshot = writer_->snapshot();
    ASSERT_TRUE(IsOk(snapshot));
    ExpectEqual(*snapshot, staged_);
    ExpectEqual(frame_->snapshot(), committed_);
  }

  void Rollback() {
    writer_->Rollback();
    staged_ = committed_;
  }

  void Commit() {
    const absl::StatusOr<Snapshot> snapshot = writer_->Commit();
    ASSERT_TRUE(IsOk(snapshot));
    committed_ = staged_;
    ExpectEqual(*snapshot, committed_);
    Remember(*snapshot);
  }

  // Keeps one old state to see that it stays.
  void Remember(const Snapshot& snapshot) {
    if (old_.has_value()) ExpectEqual(*old_, old_model_);
    if (old_.has_value() && !Chance(3)) return;
    old_ = snapshot;
    old_model_ = committed_;
  }

  void Close() {
    if (Chance(2)) {
      ASSERT_TRUE(IsOk(writer_->Close()));
      committed_ = staged_;
    }
    writer_.reset();
    staged_ = committed_;
    ExpectEqual(frame_->snapshot(), committed_);
    const absl::StatusOr<Buffer> bytes = frame_->ToBuffer();
    ASSERT_TRUE(IsOk(bytes));
    ExpectEqual(Frame::OpenBuffer(*bytes)->snapshot(), committed_);
  }

  void Reopen() {
    ASSERT_NO_FATAL_FAILURE(Close());
    if (!in_memory_) {
      absl::StatusOr<Frame> frame = Frame::Open(path_, {.use_mmap = Chance(2)});
      ASSERT_TRUE(IsOk(frame));
      frame_ = *std::move(frame);
    }
    ExpectEqual(frame_->snapshot(), committed_);
    absl::StatusOr<Writer> writer = frame_->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    writer_ = *std::move(writer);
  }

  std::mt19937_64 random_;
  const test::TempDir dir_;
  const std::string path_ = dir_.Path("frame");
  bool in_memory_ = false;
  int32_t typesize_ = 1;
  size_t chunksize_ = 0;
  std::optional<Frame> frame_;
  std::optional<Writer> writer_;
  Model committed_;
  Model staged_;
  std::optional<Snapshot> old_;
  Model old_model_;
};

TEST(ModelTest, FramesHoldWhatRandomEditsPutThere) {
  for (uint64_t seed = 1; seed <= kSequences; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Sequence(seed).Run();
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace cairn::frame
