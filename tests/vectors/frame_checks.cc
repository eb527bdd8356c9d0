#include "tests/vectors/frame_checks.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/object_store.h"
#include "tests/support/array_model.h"
#include "tests/support/status.h"
#include "tests/vectors/chunk_checks.h"
#include "tests/vectors/support.h"

namespace cairn::vectors {
namespace {

constexpr int kRanges = 12;
// Larger ones (10 GB of zeros) are hashed chunk by chunk, once.
constexpr int64_t kMaxKeptBytes = 64 << 20;

size_t Size(int64_t n) { return static_cast<size_t>(n); }

// Checks the facts that headers have only since later releases.
void CheckLaterInfo(const Entry& entry, const FrameInfo& info) {
  if (info.era != Era::kPacked2015) {
    EXPECT_EQ(info.frame_size, entry.Number("frame_len"));
    EXPECT_EQ(info.header_len, entry.Number("header_len"));
  }
  // The low bits of the flags were no version then.
  EXPECT_EQ(info.format_version, info.era < Era::kBeta ? 0 : entry.Number("frame_version"));
  // Before, the first chunk says what their headers do not.
  const bool untold = info.era < Era::kBeta && info.nchunks == 0;
  if (!untold) {
    EXPECT_EQ(info.filters, entry.filters());
    EXPECT_EQ(info.typesize, entry.Number("typesize"));
    EXPECT_EQ(info.chunksize.value_or(info.variable_chunks ? 0 : -1), entry.Number("chunksize"));
  }
  if (!entry.Text("producer").starts_with("c-blosc2 2.0.0")) {
    EXPECT_EQ(static_cast<int>(info.split_mode), entry.Number("splitmode"));
  }
  if (entry.Text("producer").starts_with("c-blosc2 3.")) {
    EXPECT_EQ(info.use_dict, entry.Flag("use_dict"));
  }
}

void CheckInfo(const Entry& entry, const FrameInfo& info) {
  EXPECT_EQ(info.era, entry.era());
  EXPECT_EQ(info.codec, entry.codec());
  EXPECT_EQ(info.layout, entry.layout());
  EXPECT_EQ(info.nchunks, entry.Number("nchunks"));
  EXPECT_EQ(info.nbytes, entry.Number("nbytes"));
  EXPECT_EQ(info.blocksize.value_or(0), entry.Number("blocksize"));
  EXPECT_EQ(info.clevel, entry.Number("clevel"));
  EXPECT_EQ(info.vlblocks, entry.Text("class") == "vlblocks" || entry.Text("notes") == "vl-blocks");
  CheckLaterInfo(entry, info);
  EXPECT_EQ(info.fingerprint, FingerprintType::kNone);
  EXPECT_FALSE(info.sealed);
  EXPECT_EQ(info.generation, 0u);
}

// Returns what a chunk stands for, by the index or by its own header.
absl::StatusOr<SpecialValue> SpecialOf(const Snapshot& snapshot, int64_t nchunk) {
  const auto entry = snapshot.GetEntry(nchunk);
  if (!entry.ok()) return entry.status();
  const auto chunk = snapshot.GetChunk(nchunk);
  if (!chunk.ok()) return chunk.status();
  const auto info = InspectChunk(chunk->bytes());
  if (!info.ok()) return info.status();
  const auto size = snapshot.ChunkNbytes(nchunk);
  if (!size.ok()) return size.status();
  EXPECT_EQ(*size, info->nbytes) << "chunk " << nchunk;
  const bool stored = entry->stored();
  EXPECT_EQ(stored, entry->special == SpecialValue::kNone) << "chunk " << nchunk;
  if (entry->special != SpecialValue::kNone) {
    EXPECT_EQ(info->special, entry->special) << "chunk " << nchunk;
  }
  return info->special;
}

void CheckSpecials(const Entry& entry, const Snapshot& snapshot) {
  const std::vector<SpecialValue> expected = entry.specials();
  if (!expected.empty()) {
    ASSERT_EQ(std::ssize(expected), snapshot.info().nchunks);
  }
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const auto special = SpecialOf(snapshot, i);
    ASSERT_TRUE(IsOk(special));
    if (expected.empty()) continue;
    // The manifest calls some chunks regular whose random data happened to be zeros.
    if (expected[Size(i)] == SpecialValue::kNone && *special == SpecialValue::kZeros) continue;
    ASSERT_EQ(*special, expected[Size(i)]) << "chunk " << i;
  }
}

void CheckMetadata(const Entry& entry, const Snapshot& snapshot) {
  std::vector<Metalayer> layers = snapshot.metalayers();
  std::ranges::sort(layers, {}, &Metalayer::name);
  EXPECT_EQ(layers, entry.Layers("metalayers"));
  for (const Metalayer& layer : layers) {
    const auto content = snapshot.GetMetalayer(layer.name);
    ASSERT_TRUE(IsOk(content));
    EXPECT_EQ(*content, layer.content);
  }
  std::vector<Metalayer> vlmeta;
  for (const std::string& name : snapshot.vlmetalayers()) {
    auto content = snapshot.GetVlmetalayer(name);
    ASSERT_TRUE(IsOk(content));
    vlmeta.push_back({.name = name, .content = *std::move(content)});
  }
  std::ranges::sort(vlmeta, {}, &Metalayer::name);
  EXPECT_EQ(vlmeta, entry.vlmetalayers());
  EXPECT_EQ(snapshot.GetMetalayer("no such").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(snapshot.GetVlmetalayer("no such").status().code(), absl::StatusCode::kNotFound);
}

// Decodes all chunks; the bytes are kept in `kept` when it has room for them.
absl::StatusOr<std::string> HashChunks(const Snapshot& snapshot, MutableBytes kept) {
  ContentHasher hasher;
  size_t done = 0;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const auto size = snapshot.ChunkNbytes(i);
    if (!size.ok()) return size.status();
    GuardedBytes chunk(Size(*size));
    const absl::Status status = snapshot.ReadChunk(i, chunk.bytes());
    if (!status.ok()) return status;
    hasher.Add(chunk.bytes());
    if (done + Size(*size) <= kept.size()) std::ranges::copy(chunk.bytes(), kept.begin() + done);
    done += Size(*size);
  }
  return hasher.Hex();
}

void CheckRanges(const Snapshot& snapshot, Bytes content, std::mt19937_64& random) {
  const auto nbytes = static_cast<int64_t>(content.size());
  for (int i = 0; i < kRanges && nbytes > 0; ++i) {
    const int64_t begin = Between(random, 0, nbytes - 1);
    const int64_t longest = i % 2 == 0 ? std::min<int64_t>(nbytes - begin, 100) : nbytes - begin;
    GuardedBytes bytes(Size(Between(random, 1, longest)));
    const absl::Status status = snapshot.ReadBytes(begin, bytes.bytes());
    ASSERT_TRUE(IsOk(status));
    ASSERT_TRUE(
        std::ranges::equal(bytes.bytes(), content.subspan(Size(begin), bytes.bytes().size())))
        << "bytes from " << begin << ", " << bytes.bytes().size();
  }
  GuardedBytes byte(1);
  EXPECT_EQ(snapshot.ReadBytes(nbytes, byte.bytes()).code(), absl::StatusCode::kOutOfRange);
}

// Items that are given in the order in which they are numbered.
void CheckItems(const Snapshot& snapshot, Bytes content, std::mt19937_64& random) {
  const int64_t typesize = snapshot.info().typesize;
  const int64_t nitems = snapshot.info().nitems;
  ASSERT_EQ(nitems, static_cast<int64_t>(content.size()) / typesize);
  for (int i = 0; i < kRanges && nitems > 0; ++i) {
    const int64_t start = Between(random, 0, nitems - 1);
    const int64_t longest = i % 2 == 0 ? std::min<int64_t>(nitems - start, 20) : nitems - start;
    GuardedBytes items(Size(Between(random, 1, longest) * typesize));
    const absl::Status status = snapshot.ReadItems(start, items.bytes());
    ASSERT_TRUE(IsOk(status));
    ASSERT_TRUE(std::ranges::equal(items.bytes(),
                                   content.subspan(Size(start * typesize), items.bytes().size())))
        << "items from " << start << ", " << items.bytes().size() << " bytes";
  }
  GuardedBytes item(Size(typesize));
  EXPECT_EQ(snapshot.ReadItems(snapshot.info().nitems, item.bytes()).code(),
            absl::StatusCode::kOutOfRange);
}

void CheckGather(const Snapshot& snapshot, Bytes content, std::mt19937_64& random) {
  const int64_t typesize = snapshot.info().typesize;
  const int64_t nitems = static_cast<int64_t>(content.size()) / typesize;
  if (nitems == 0) return;
  std::vector<int64_t> wanted(30);
  for (int64_t& item : wanted) item = Between(random, 0, nitems - 1);
  wanted.push_back(wanted.front());
  GuardedBytes items(wanted.size() * Size(typesize));
  const absl::Status status = snapshot.ReadItemsAt(wanted, items.bytes());
  ASSERT_TRUE(IsOk(status));
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Bytes got = Bytes(items.bytes()).subspan(i * Size(typesize), Size(typesize));
    ASSERT_TRUE(std::ranges::equal(got, content.subspan(Size(wanted[i] * typesize), got.size())))
        << "item " << wanted[i];
  }
}

void CheckFields(const Snapshot& snapshot, Bytes content, std::mt19937_64& random) {
  const int32_t typesize = snapshot.info().typesize;
  const int64_t nitems = static_cast<int64_t>(content.size()) / typesize;
  for (int i = 0; i < 4 && nitems > 0; ++i) {
    const int64_t start = i == 0 ? 0 : Between(random, 0, nitems - 1);
    const int64_t count = i == 0 ? nitems : Between(random, 1, nitems - start);
    const auto offset = static_cast<int32_t>(Between(random, 0, typesize - 1));
    const auto size = static_cast<int32_t>(Between(random, 1, typesize - offset));
    GuardedBytes values(Size(count * size));
    const FieldSpan field = {.offset = offset, .size = size, .dst = values.bytes()};
    ASSERT_TRUE(IsOk(snapshot.ReadFields(start, count, {&field, 1})));
    for (int64_t k = 0; k < count; ++k) {
      ASSERT_TRUE(
          std::ranges::equal(Bytes(values.bytes()).subspan(Size(k * size), Size(size)),
                             content.subspan(Size((start + k) * typesize + offset), Size(size))))
          << size << " bytes at " << offset << " of item " << start + k;
    }
  }
}

void CheckVerify(const Snapshot& snapshot) {
  const auto report = snapshot.Verify();
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->nchunks, snapshot.info().nchunks);
  EXPECT_FALSE(report->sealed);
  for (const Finding& finding : report->findings) {
    ADD_FAILURE() << finding.section << " [" << finding.begin << ", " << finding.end
                  << "): " << finding.reason;
  }
}

// The first error of all metadata reads.
absl::Status ReadMetadata(const Snapshot& snapshot) {
  for (const Metalayer& layer : snapshot.metalayers()) {
    const auto content = snapshot.GetMetalayer(layer.name);
    if (!content.ok()) return content.status();
  }
  for (const std::string& name : snapshot.vlmetalayers()) {
    const auto content = snapshot.GetVlmetalayer(name);
    if (!content.ok()) return content.status();
  }
  return absl::OkStatus();
}

// The array as one box, and boxes of it, equal what the manifest says.
void CheckArray(const Entry& entry, const Snapshot& snapshot, std::mt19937_64& random) {
  ASSERT_EQ(snapshot.array().has_value(), entry.Has("b2nd"));
  if (!entry.Has("b2nd")) return;
  const nlohmann::json& expected = entry.json["b2nd"];
  const ArrayInfo& array = *snapshot.array();
  EXPECT_EQ(array.shape, expected["shape"].get<std::vector<int64_t>>());
  EXPECT_EQ(array.chunkshape, expected["chunkshape"].get<std::vector<int32_t>>());
  EXPECT_EQ(array.blockshape, expected["blockshape"].get<std::vector<int32_t>>());
  EXPECT_EQ(array.dtype, expected["dtype"].get<std::string>());
  test::ArrayModel model(array.shape, snapshot.info().typesize);
  const test::BoxPlace all{std::vector<int64_t>(array.shape.size()), array.shape};
  GuardedBytes items(model.NbytesOf(all));
  ASSERT_TRUE(IsOk(snapshot.ReadBox(all.start, all.shape, items.bytes())));
  EXPECT_EQ(ContentHash(items.bytes()), expected["array_xxh128"].get<std::string>());
  model.Write(all, items.bytes());
  test::ArrayMaker maker(random());
  for (int i = 0; i < kRanges; ++i) {
    const test::BoxPlace box = maker.MakeBox(array.shape);
    GuardedBytes part(model.NbytesOf(box));
    ASSERT_TRUE(IsOk(snapshot.ReadBox(box.start, box.shape, part.bytes()))) << box;
    EXPECT_TRUE(std::ranges::equal(part.bytes(), model.Read(box))) << box;
  }
}

void PutFile(ObjectStore& store, const std::string& path, const std::string& name) {
  const std::unique_ptr<GuardedBytes> bytes = ReadFile(path);
  ASSERT_NE(bytes, nullptr) << path;
  EXPECT_TRUE(IsOk(store.PutIfAbsent(name, bytes->bytes())));
}

}  // namespace

std::string ToString(Access access) {
  switch (access) {
    case Access::kMapped:
      return "mapped";
    case Access::kRead:
      return "read";
    case Access::kObject:
      return "object";
    case Access::kBuffer:
      return "buffer";
  }
  return "?";
}

std::span<const Access> AccessesOf(const Entry& entry) {
  static constexpr Access kAccesses[] = {Access::kMapped, Access::kRead, Access::kObject,
                                         Access::kBuffer};
  // A directory is not a buffer.
  return std::span(kAccesses).first(entry.layout() == Layout::kSparse ? 3 : 4);
}

int64_t AllowedForOpening(int64_t size) {
  // Every open frame takes this, of which 64 KiB are for a look at the bytes after its trailer, and
  // the metadata as they lie in the file.
  constexpr int64_t kAnyFrame = 84 << 10;
  return kAnyFrame + size;
}

OpenedFrame::OpenedFrame(const Entry& entry, Access access) : frame_(absl::UnknownError("")) {
  const std::string path = VectorFolder() + "/" + entry.path;
  OpenOptions options;
  options.offset = entry.Number("offset");
  options.use_mmap = access == Access::kMapped;
  if (access == Access::kObject) {
    OpenObjects(path, options);
    return;
  }
  if (access != Access::kBuffer) {
    frame_ = Frame::Open(path, options);
    return;
  }
  bytes_ = ReadFile(path);
  if (bytes_ != nullptr) frame_ = Frame::OpenBuffer(bytes_->bytes(), options);
}

// Opens a frame in a store. A contiguous one takes few requests.
void OpenedFrame::OpenObjects(const std::string& path, OpenOptions options) {
  constexpr int64_t kMostGets = 3;
  const std::shared_ptr<ObjectStore> store = MakeMemoryObjectStore();
  const bool is_directory = std::filesystem::is_directory(path);
  if (is_directory) {
    for (const auto& file : std::filesystem::recursive_directory_iterator(path)) {
      if (file.is_regular_file()) {
        PutFile(*store, file.path(), "frame/" + file.path().lexically_relative(path).string());
      }
    }
  } else {
    PutFile(*store, path, "frame");
  }
  objects_ = MakeObjectFileSystem(store);
  options.file_system = objects_;
  frame_ = Frame::Open("frame", options);
  const bool is_old = frame_.ok() && frame_->snapshot().info().era != Era::kCurrent;
  if (frame_.ok() && !is_directory && !is_old) {
    EXPECT_LE(store->stats().requests(), kMostGets);
  }
}

OpenedFrame::~OpenedFrame() = default;

void CheckReadableFrame(const Entry& entry, Access access) {
  const OpenedFrame opened(entry, access);
  ASSERT_TRUE(IsOk(opened.frame()));
  const Snapshot snapshot = opened.frame()->snapshot();
  if (entry.Has("nchunks")) CheckInfo(entry, snapshot.info());
  CheckSpecials(entry, snapshot);
  if (entry.Has("metalayers")) CheckMetadata(entry, snapshot);

  const int64_t nbytes = snapshot.info().nbytes;
  if (nbytes > kMaxKeptBytes && access != Access::kMapped) return;
  GuardedBytes content(nbytes > kMaxKeptBytes ? 0 : Size(nbytes));
  const auto hash = HashChunks(snapshot, content.bytes());
  ASSERT_TRUE(IsOk(hash));
  EXPECT_EQ(*hash, entry.content_hash());
  CheckVerify(snapshot);
  if (nbytes > kMaxKeptBytes) return;
  std::mt19937_64 random = RandomFor(entry.path);
  CheckRanges(snapshot, content.bytes(), random);
  const int64_t items_nbytes = snapshot.info().nitems * snapshot.info().typesize;
  GuardedBytes array(snapshot.array() ? Size(items_nbytes) : 0);
  if (snapshot.array()) {
    const std::vector<int64_t>& shape = snapshot.array()->shape;
    const std::vector<int64_t> start(shape.size());
    ASSERT_TRUE(IsOk(snapshot.ReadBox(start, shape, array.bytes())));
  }
  const Bytes items = snapshot.array() ? Bytes(array.bytes()) : Bytes(content.bytes());
  CheckItems(snapshot, items, random);
  CheckGather(snapshot, items, random);
  CheckFields(snapshot, items, random);
  CheckArray(entry, snapshot, random);
}

absl::StatusOr<std::string> ReadEverything(const Entry& entry, Access access) {
  const OpenedFrame opened(entry, access);
  if (!opened.frame().ok()) return opened.frame().status();
  const Snapshot snapshot = opened.frame()->snapshot();
  auto hash = HashChunks(snapshot, {});
  const absl::Status metadata = ReadMetadata(snapshot);
  const auto report = snapshot.Verify();
  GuardedBytes item(Size(snapshot.info().typesize));
  snapshot.ReadItems(0, item.bytes()).IgnoreError();
  snapshot.ReadItems(snapshot.info().nitems - 1, item.bytes()).IgnoreError();
  if (!hash.ok()) return hash;
  if (!metadata.ok()) return metadata;
  if (!report.ok()) return report.status();
  if (!report->ok()) {
    const Finding& first = report->findings.front();
    return absl::DataLossError(first.section + ": " + first.reason);
  }
  return hash;
}

void CheckHostileFrame(const Entry& entry, Access access) {
  const auto hash = ReadEverything(entry, access);
  if (entry.expect() == "error") {
    if (!hash.ok()) return ExpectBadBytes(hash.status());
    EXPECT_EQ(entry.Text("tolerable"), "same-content") << "must be refused";
    EXPECT_EQ(*hash, entry.Text("base_content_xxh128"));
    return;
  }
  if (!hash.ok()) ExpectBadBytes(hash.status());
}

void CheckUnsupportedFrame(const Entry& entry, Access access) {
  const OpenedFrame opened(entry, access);
  ASSERT_TRUE(IsOk(opened.frame()));
  CheckMetadata(entry, opened.frame()->snapshot());
  const absl::Status status = HashChunks(opened.frame()->snapshot(), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
}

}  // namespace cairn::vectors
