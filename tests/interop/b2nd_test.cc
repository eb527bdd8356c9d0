// N-dimensional arrays go back and forth between Cairn and C-Blosc2.
#include <algorithm>
#include <b2nd.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/interop/figures.h"
#include "tests/interop/hand_over.h"
#include "tests/interop/peer.h"
#include "tests/support/array_model.h"
#include "tests/support/status.h"

namespace cairn::interop {
namespace {

using test::ArrayMaker;
using test::ArrayModel;
using test::BoxPlace;

constexpr int kArrays = 200;
constexpr int kBoxes = 8;

using PeerArray = std::unique_ptr<b2nd_array_t, int (*)(b2nd_array_t*)>;

PeerArray OpenPeer(const std::string& path) {
  b2nd_array_t* array = nullptr;
  if (b2nd_open(path.c_str(), &array) < 0) array = nullptr;
  return {array, b2nd_free};
}

// A box in the library's terms, which takes no null pointers.
struct PeerBox {
  explicit PeerBox(const BoxPlace& box) : start(box.start), stop(box.start), shape(box.shape) {
    for (size_t d = 0; d < stop.size(); ++d) stop[d] += shape[d];
    for (std::vector<int64_t>* numbers : {&start, &stop, &shape}) numbers->push_back(0);
  }
  std::vector<int64_t> start;
  std::vector<int64_t> stop;
  std::vector<int64_t> shape;
};

std::optional<Buffer> PeerRead(const PeerArray& array, const BoxPlace& place, size_t nbytes) {
  const PeerBox box(place);
  Buffer items(nbytes);
  if (b2nd_get_slice_cbuffer(array.get(), box.start.data(), box.stop.data(), items.data(),
                             box.shape.data(), static_cast<int64_t>(nbytes)) < 0) {
    return std::nullopt;
  }
  return items;
}

bool PeerWrite(const PeerArray& array, const BoxPlace& place, Bytes items) {
  const PeerBox box(place);
  return b2nd_set_slice_cbuffer(items.data(), box.shape.data(), static_cast<int64_t>(items.size()),
                                box.start.data(), box.stop.data(), array.get()) >= 0;
}

// An array, how to make it, and what it must hold.
struct ArrayCase {
  CreateOptions options;
  ArrayModel model;

  const ArrayInfo& array() const { return *options.array; }
};

std::string DtypeOf(int32_t typesize) {
  return typesize == 1 ? "|u1" : typesize == 4 ? "<i4" : "|V" + std::to_string(typesize);
}

ArrayCase MakeCase(ArrayMaker& maker) {
  // C-Blosc2 misreads parts of chunks with items of over 255 bytes or with DELTA, its own ones too.
  constexpr int32_t kTypesizes[] = {1, 2, 3, 4, 8, 16, 255};
  constexpr Codec kCodecs[] = {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib,
                               Codec::kZstd};
  constexpr Filter kFilters[] = {Filter::kNone, Filter::kShuffle, Filter::kBitShuffle};
  CreateOptions options;
  options.compression.typesize = kTypesizes[maker.Between(0, 6)];
  options.compression.codec = kCodecs[maker.Between(0, 4)];
  options.compression.clevel = static_cast<int>(maker.Between(0, 9));
  options.compression.filters = {{.filter = kFilters[maker.Between(0, 2)]}};
  options.array =
      maker.MakeArray(static_cast<int>(maker.Between(1, std::min(kMaxDimensions, B2ND_MAX_DIM))));
  options.array->dtype = DtypeOf(options.compression.typesize);
  return {.options = options,
          .model = ArrayModel(options.array->shape, options.compression.typesize)};
}

// Both read boxes of the array at `path` and find what the model has.
void ExpectBothRead(const std::string& path, const ArrayCase& c, ArrayMaker& maker) {
  const auto frame = Frame::Open(path);
  ASSERT_TRUE(IsOk(frame));
  const Snapshot snapshot = frame->snapshot();
  ASSERT_EQ(snapshot.array(), c.array());
  const PeerArray peer = OpenPeer(path);
  ASSERT_NE(peer, nullptr);
  EXPECT_STREQ(peer->dtype, c.array().dtype.c_str());
  for (int i = 0; i < kBoxes; ++i) {
    const BoxPlace box = maker.MakeBox(c.array().shape);
    SCOPED_TRACE(testing::Message() << "box " << box);
    Buffer items(c.model.NbytesOf(box));
    const absl::Status status = snapshot.ReadBox(box.start, box.shape, items);
    ASSERT_TRUE(IsOk(status));
    ASSERT_TRUE(items == c.model.Read(box)) << "Cairn";
    if (items.empty()) continue;
    const auto peers = PeerRead(peer, box, items.size());
    ASSERT_TRUE(peers.has_value());
    ASSERT_TRUE(*peers == items) << "C-Blosc2";
  }
}

void WriteByCairn(const std::string& path, ArrayMaker& maker, ArrayCase* c) {
  auto frame = Frame::Open(path);
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (int64_t writes = maker.Between(1, 3); writes > 0; --writes) {
    const BoxPlace box = maker.MakeBox(c->array().shape);
    const Buffer items = maker.MakeItems(c->model.NbytesOf(box));
    c->model.Write(box, items);
    const absl::Status status = writer->WriteBox(box.start, box.shape, items);
    ASSERT_TRUE(IsOk(status));
  }
  const absl::Status status = HandOver(*writer);
  ASSERT_TRUE(IsOk(status));
}

void WriteByPeer(const std::string& path, ArrayMaker& maker, ArrayCase* c) {
  const PeerArray peer = OpenPeer(path);
  ASSERT_NE(peer, nullptr);
  for (int64_t writes = maker.Between(1, 3); writes > 0; --writes) {
    const BoxPlace box = maker.MakeBox(c->array().shape);
    const Buffer items = maker.MakeItems(c->model.NbytesOf(box));
    if (items.empty()) continue;
    c->model.Write(box, items);
    ASSERT_TRUE(PeerWrite(peer, box, items)) << box;
  }
}

// By b2nd_zeros, or by b2nd_from_cbuffer with items.
void CreateByPeer(const std::string& path, ArrayMaker& maker, ArrayCase* c) {
  blosc2_cparams params = PeerParams(c->options.compression);
  blosc2_dparams decoding = BLOSC2_DPARAMS_DEFAULTS;
  std::string urlpath = path;
  blosc2_storage storage = {};
  storage.contiguous = true;
  storage.urlpath = urlpath.data();
  storage.cparams = &params;
  storage.dparams = &decoding;
  const ArrayInfo& array = c->array();
  const std::unique_ptr<b2nd_context_t, int (*)(b2nd_context_t*)> context(
      b2nd_create_ctx(&storage, static_cast<int8_t>(array.shape.size()), array.shape.data(),
                      array.chunkshape.data(), array.blockshape.data(), array.dtype.c_str(), 0,
                      nullptr, 0),
      b2nd_free_ctx);
  ASSERT_NE(context, nullptr);
  b2nd_array_t* made = nullptr;
  if (maker.Between(0, 1) == 0) {
    ASSERT_GE(b2nd_zeros(context.get(), &made), 0);
  } else {
    const BoxPlace all{std::vector<int64_t>(array.shape.size()), array.shape};
    c->model.Write(all, maker.MakeItems(c->model.NbytesOf(all)));
    const Buffer& items = c->model.items();
    ASSERT_GE(
        b2nd_from_cbuffer(context.get(), &made, items.data(), static_cast<int64_t>(items.size())),
        0);
  }
  b2nd_free(made);
}

std::string FreshArrayPath(const char* name) {
  const std::string path = testing::TempDir() + "cairn-" + name + std::to_string(::getpid());
  std::filesystem::remove(path);
  return path;
}

TEST(Blosc2ArrayTest, PeerReadsAndEditsArraysOfCairn) {
  const std::string path = FreshArrayPath("array");
  ArrayMaker maker(1);
  for (int i = 0; i < kArrays; ++i) {
    ArrayCase c = MakeCase(maker);
    c.options.overwrite = true;
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << testing::PrintToString(c.array())
                                    << " of " << c.options.compression.typesize);
    const auto made = Frame::Create(path, c.options);
    ASSERT_TRUE(IsOk(made));
    ExpectBothRead(path, c, maker);
    if (HasFailure()) return;
    WriteByCairn(path, maker, &c);
    if (HasFailure()) return;
    ExpectBothRead(path, c, maker);
    if (HasFailure()) return;
    WriteByPeer(path, maker, &c);
    if (HasFailure()) return;
    ExpectBothRead(path, c, maker);
    if (HasFailure()) return;
  }
  std::filesystem::remove(path);
  Report("arrays_created_by_cairn", kArrays);
}

TEST(Blosc2ArrayTest, CairnReadsAndEditsArraysOfThePeer) {
  const std::string path = FreshArrayPath("array");
  ArrayMaker maker(2);
  for (int i = 0; i < kArrays; ++i) {
    std::filesystem::remove(path);
    ArrayCase c = MakeCase(maker);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << testing::PrintToString(c.array())
                                    << " of " << c.options.compression.typesize);
    CreateByPeer(path, maker, &c);
    if (HasFailure()) return;
    WriteByPeer(path, maker, &c);
    if (HasFailure()) return;
    ExpectBothRead(path, c, maker);
    if (HasFailure()) return;
    WriteByCairn(path, maker, &c);
    if (HasFailure()) return;
    ExpectBothRead(path, c, maker);
    if (HasFailure()) return;
  }
  std::filesystem::remove(path);
  Report("arrays_created_by_the_peer", kArrays);
}

TEST(Blosc2ArrayTest, PeerOpensArraysWithoutItemsOrDimensions) {
  const std::string path = FreshArrayPath("array");
  CreateOptions options;
  options.overwrite = true;
  options.compression.typesize = 4;
  options.array = ArrayInfo{.shape = {4, 0}, .chunkshape = {2, 3}, .blockshape = {1, 2}};
  ASSERT_TRUE(IsOk(Frame::Create(path, options)));
  PeerArray peer = OpenPeer(path);
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(peer->nitems, 0);
  options.array = ArrayInfo{.shape = {}, .chunkshape = {}, .blockshape = {}};
  auto frame = Frame::Create(path, options);
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const Buffer item(4, std::byte{9});
  ASSERT_TRUE(IsOk(writer->WriteBox({}, {}, item)));
  ASSERT_TRUE(IsOk(HandOver(*writer)));
  peer = OpenPeer(path);
  ASSERT_NE(peer, nullptr);
  EXPECT_EQ(peer->ndim, 0);
  EXPECT_EQ(PeerRead(peer, {}, 4), item);
  peer.reset();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cairn::interop
