#include "tests/interop/frame_case.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/interop/chunk_case.h"
#include "tests/interop/hand_over.h"
#include "tests/support/status.h"

namespace cairn::interop {
namespace {

constexpr int64_t kChunkItems[] = {1, 7, 100, 1000, 3000};
constexpr FingerprintType kFingerprints[] = {FingerprintType::kNone, FingerprintType::k32Bit,
                                             FingerprintType::k64Bit, FingerprintType::k128Bit};
constexpr Birth kBirths[] = {Birth::kCreated, Birth::kBuilt, Birth::kInMemory};
constexpr DataKind kNeverZero[] = {DataKind::kRandom, DataKind::kText};
constexpr std::string_view kVlNames[] = {"a", "notes", "history of it",
                                         "abcdefghijklmnopqrstuvwxyz01234"};

// Repeats an item.
Buffer Repeat(Bytes item, int64_t nitems) {
  Buffer bytes(item.size() * static_cast<size_t>(nitems));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = item[i % item.size()];
  return bytes;
}

Buffer NanItem(int32_t typesize) {
  Buffer item(static_cast<size_t>(typesize));
  const uint32_t narrow = 0x7FC00000;
  const uint64_t wide = 0x7FF8000000000000;
  if (typesize == 4) std::memcpy(item.data(), &narrow, sizeof narrow);
  if (typesize == 8) std::memcpy(item.data(), &wide, sizeof wide);
  return item;
}

void Extend(const Buffer& bytes, Buffer* content) {
  content->insert(content->end(), bytes.begin(), bytes.end());
}

absl::Status AppendSpecialAtRandom(Writer* writer, Random& random, FrameCase* c) {
  constexpr std::array kSpecials = {SpecialValue::kZeros, SpecialValue::kRepeat,
                                    SpecialValue::kUninit, SpecialValue::kNans};
  SpecialValue special = Pick(random, kSpecials);
  const bool floats = c->typesize() == 4 || c->typesize() == 8;
  if (special == SpecialValue::kNans && !floats) special = SpecialValue::kZeros;
  Buffer item(static_cast<size_t>(c->typesize()));
  Buffer value;
  if (special == SpecialValue::kNans) item = NanItem(c->typesize());
  if (special == SpecialValue::kRepeat) {
    item = value = MakeData(DataKind::kRandom, item.size(), c->typesize(), random);
  }
  if (special == SpecialValue::kUninit) c->has_uninit = true;
  const int64_t nitems = Between(random, 1, 5000);
  Extend(Repeat(item, nitems), &c->content);
  return writer->AppendSpecial(special, nitems, value);
}

absl::Status AppendAtRandom(Writer* writer, Random& random, FrameCase* c) {
  const int64_t nitems = Between(random, 1, random() % 3 == 0 ? 6000 : 300);
  const Buffer data = MakeData(Pick(random, c->kinds), static_cast<size_t>(nitems * c->typesize()),
                               c->typesize(), random);
  Extend(data, &c->content);
  return writer->Append(data);
}

absl::Status CloseAfterEdits(absl::StatusOr<Writer> writer, Random& random, FrameCase* c) {
  if (!writer.ok()) return writer.status();
  const absl::Status edited = EditAtRandom(&*writer, random, c);
  return edited.ok() ? HandOver(*writer) : edited;
}

absl::Status WriteInMemory(const std::string& path, Random& random, FrameCase* c) {
  auto frame = Frame::CreateInMemory(c->options);
  if (!frame.ok()) return frame.status();
  const absl::Status status = CloseAfterEdits(frame->OpenWriter(), random, c);
  if (!status.ok()) return status;
  const auto cframe = frame->snapshot().ToBuffer();
  if (!cframe.ok()) return cframe.status();
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(cframe->data()), std::ssize(*cframe));
  return stream ? absl::OkStatus() : absl::UnknownError("cannot write " + path);
}

absl::Status WriteFirst(const std::string& path, Random& random, FrameCase* c) {
  if (c->birth == Birth::kInMemory) return WriteInMemory(path, random, c);
  if (c->birth == Birth::kBuilt) {
    return CloseAfterEdits(Frame::BeginCreate(path, c->options), random, c);
  }
  auto frame = Frame::Create(path, c->options);
  if (!frame.ok()) return frame.status();
  return CloseAfterEdits(frame->OpenWriter(), random, c);
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const FrameCase& c) {
  const CompressionOptions& o = c.options.compression;
  stream << "birth " << static_cast<int>(c.birth) << ' ' << ToString(o.codec) << " level "
         << o.clevel << " typesize " << o.typesize << " chunk "
         << c.options.chunksize.nbytes().value_or(0) << " block " << o.blocksize << " split "
         << static_cast<int>(o.split_mode) << " dict " << o.use_dict << " fingerprint "
         << static_cast<int>(c.options.fingerprint) << " filters";
  for (const FilterStage& stage : o.filters) stream << ' ' << static_cast<int>(stage.filter);
  return stream;
}

Buffer MakeContent(Random& random) {
  const auto size = static_cast<size_t>(random() % 5 == 0 ? 0 : Between(random, 1, 3000));
  return MakeData(Pick(random, kAllDataKinds), size, 1, random);
}

FrameCase MakeFrameCase(Random& random) {
  FrameCase c;
  c.birth = Pick(random, kBirths);
  c.options.compression = MakeLosslessOptions(random);
  c.options.chunksize = random() % 4 == 0
                            ? ChunkSize::Variable()
                            : static_cast<int32_t>(Pick(random, kChunkItems) * c.typesize());
  c.options.fingerprint = Pick(random, kFingerprints);
  const int64_t nlayers = random() % 3 == 0 ? 0 : Between(random, 1, 5);
  for (int64_t i = 0; i < nlayers; ++i) {
    const std::string name = "meta" + std::to_string(i);
    c.metalayers[name] = MakeContent(random);
    c.options.metalayers.push_back({.name = name, .content = c.metalayers[name]});
  }
  return c;
}

FrameCase MakeEditableFrameCase(Random& random) {
  FrameCase c = MakeFrameCase(random);
  c.options.compression.blocksize = 0;
  c.options.compression.use_dict = false;
  if (const std::optional<int32_t> nbytes = c.options.chunksize.nbytes()) {
    c.options.chunksize = std::max(*nbytes, 64 * c.typesize());
  }
  c.kinds = kNeverZero;
  c.specials = false;
  return c;
}

absl::Status EditMetadataAtRandom(Writer* writer, Random& random, FrameCase* c) {
  const std::string name(Pick(random, kVlNames));
  if (!c->metalayers.empty() && random() % 3 == 0) {
    auto& [layer, content] = *c->metalayers.begin();
    std::ranges::reverse(content);
    return writer->SetMetalayer(layer, content);
  }
  if (c->vlmetalayers.contains(name) && random() % 2 == 0) {
    c->vlmetalayers.erase(name);
    return writer->DeleteVlmetalayer(name);
  }
  c->vlmetalayers[name] = MakeContent(random);
  return writer->SetVlmetalayer(name, c->vlmetalayers[name]);
}

absl::Status EditAtRandom(Writer* writer, Random& random, FrameCase* c) {
  const int64_t nedits = Between(random, 0, 6);
  for (int64_t i = 0; i < nedits; ++i) {
    const uint64_t what = random() % 10;
    absl::Status status;
    if (what < 5) {
      status = AppendAtRandom(writer, random, c);
    } else if (what < 7 && c->specials) {
      status = AppendSpecialAtRandom(writer, random, c);
    } else {
      status = EditMetadataAtRandom(writer, random, c);
    }
    if (status.ok() && random() % 3 == 0) status = writer->Commit().status();
    if (status.ok() && random() % 8 == 0) status = writer->Checkpoint();
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status WriteFrame(const std::string& path, Random& random, FrameCase* c) {
  absl::Status status = WriteFirst(path, random, c);
  const int64_t nsessions = Between(random, 0, 2);
  for (int64_t i = 0; i < nsessions && status.ok(); ++i) {
    auto frame = Frame::Open(path);
    if (!frame.ok()) return frame.status();
    status = CloseAfterEdits(frame->OpenWriter(), random, c);
  }
  return status;
}

void ExpectHolds(const Snapshot& snapshot, const FrameCase& c) {
  ASSERT_EQ(snapshot.info().nbytes, std::ssize(c.content));
  ASSERT_EQ(snapshot.info().typesize, c.typesize());
  Buffer content(c.content.size());
  const absl::Status status = snapshot.ReadBytes(0, content);
  ASSERT_TRUE(IsOk(status));
  ASSERT_TRUE(content == c.content);
  Layers metalayers;
  for (const Metalayer& layer : snapshot.metalayers()) metalayers[layer.name] = layer.content;
  EXPECT_EQ(metalayers, c.metalayers);
  Layers vlmetalayers;
  for (const std::string& name : snapshot.vlmetalayers()) {
    auto value = snapshot.GetVlmetalayer(name);
    ASSERT_TRUE(IsOk(value));
    vlmetalayers[name] = *std::move(value);
  }
  EXPECT_EQ(vlmetalayers, c.vlmetalayers);
  const auto report = snapshot.Verify();
  ASSERT_TRUE(IsOk(report));
  for (const Finding& finding : report->findings) {
    ADD_FAILURE() << finding.section << ": " << finding.reason;
  }
}

}  // namespace cairn::interop
