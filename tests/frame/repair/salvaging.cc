#include "tests/frame/repair/salvaging.h"

#include "absl/strings/match.h"

#include "engine/base/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {

MutableBytes Part(Buffer& bytes, ByteRange range) {
  return MutableBytes(bytes).subspan(static_cast<size_t>(range.begin),
                                     static_cast<size_t>(range.end - range.begin));
}

void Ruin(Buffer& bytes, ByteRange range) {
  CopyBytes(MakeNoise(static_cast<size_t>(range.end - range.begin), 99), Part(bytes, range));
}

void RuinWhatNamesChunks(Buffer& frame) {
  const FrameParts parts = PartsOf(frame);
  Ruin(frame, {0, parts.header_len});
  Ruin(frame, {parts.trailer_begin, parts.frame_size});
}

std::vector<ByteRange> PlacesOf(Bytes bytes) {
  const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes);
  EXPECT_TRUE(IsOk(frame));
  std::vector<ByteRange> places;
  for (int64_t i = 0; i < frame->snapshot().info().nchunks; ++i) {
    const int64_t begin = frame->snapshot().GetEntry(i)->offset.value();
    places.push_back({begin, begin + std::ssize(frame->snapshot().GetChunk(i)->bytes())});
  }
  return places;
}

Buffer Salvaging::MakeFrame(const CreateOptions& options, const std::vector<Buffer>& pieces) {
  const std::string path = dir_.Path("made");
  CreateOptions again = options;
  again.overwrite = true;
  auto writer = Frame::BeginCreate(path, again);
  EXPECT_TRUE(IsOk(writer));
  for (const Buffer& piece : pieces) EXPECT_TRUE(IsOk(writer->Append(piece)));
  EXPECT_TRUE(IsOk(writer->SetVlmetalayer("noise", MakeNoise(500, 77))));
  EXPECT_TRUE(IsOk(writer->SetVlmetalayer("text", MakeItems(800, 78))));
  EXPECT_TRUE(IsOk(writer->Close()));
  return FileBytes(path);
}

absl::StatusOr<SalvageReport> Salvaging::SalvageBytes(Bytes bytes, const OpenOptions& options) {
  PutFileBytes(dir_.Path("damaged"), bytes);
  const absl::Status removed = PosixFileSystem()->Remove(dir_.Path("saved"));
  EXPECT_TRUE(removed.ok() || absl::IsNotFound(removed)) << removed;
  return Salvage(dir_.Path("damaged"), dir_.Path("saved"), {.open = options});
}

Snapshot Salvaging::Saved() const {
  const absl::StatusOr<Frame> frame = Frame::Open(dir_.Path("saved"));
  EXPECT_TRUE(IsOk(frame));
  return frame->snapshot();
}

void Salvaging::ExpectSaved(const absl::StatusOr<SalvageReport>& report, Bytes content) const {
  ASSERT_TRUE(IsOk(report));
  ExpectHolds(Saved(), content);
  EXPECT_EQ(report->chunks, Saved().info().nchunks);
  EXPECT_EQ(report->nbytes, std::ssize(content));
}

void Salvaging::ExpectLost(const LostBytes& lost, ByteRange range, std::string_view part) {
  EXPECT_EQ(lost.begin, range.begin);
  EXPECT_EQ(lost.end, range.end);
  EXPECT_TRUE(absl::StrContains(lost.reason, absl::string_view(part.data(), part.size())))
      << lost.reason;
}

}  // namespace cairn::test
