#include "cairn/snapshot.h"

#include <deque>
#include <tuple>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "cairn/chunk.h"
#include "tools/python/binding/calls.h"
#include "tools/python/binding/handles.h"
#include "tools/python/binding/text.h"
#include "tools/python/binding/verification.h"

namespace cairn::python {

namespace {

using namespace nb::literals;

template <typename T>
nb::object Maybe(const std::optional<T>& value) {
  return value.has_value() ? nb::cast(*value) : nb::none();
}

nb::dict InfoOf(const SnapshotHandle& self) {
  const FrameInfo& info = self.snapshot.info();
  nb::list filters;
  for (const FilterStage& stage : info.filters) {
    filters.append(nb::make_tuple(static_cast<int>(stage.filter), stage.meta));
  }
  nb::dict fields;
  fields["layout"] = static_cast<int>(info.layout);
  fields["era"] = static_cast<int>(info.era);
  fields["format_version"] = info.format_version;
  fields["nchunks"] = info.nchunks;
  fields["nitems"] = info.nitems;
  fields["nbytes"] = info.nbytes;
  fields["cbytes"] = info.cbytes;
  fields["frame_size"] = info.frame_size;
  fields["journal_size"] = info.journal_size;
  fields["dead_bytes"] = Maybe(info.dead_bytes);
  fields["typesize"] = info.typesize;
  fields["chunksize"] = Maybe(info.chunksize);
  fields["variable_chunks"] = info.variable_chunks;
  fields["blocksize"] = Maybe(info.blocksize);
  fields["codec"] = static_cast<int>(info.codec);
  fields["clevel"] = info.clevel;
  fields["filters"] = filters;
  fields["use_dict"] = info.use_dict;
  fields["vlblocks"] = info.vlblocks;
  fields["sealed"] = info.sealed;
  fields["trailer_damaged"] = info.trailer_damaged;
  fields["journal_damaged"] = info.journal_damaged;
  fields["stranded_commits"] = info.stranded_commits;
  fields["generation"] = info.generation;
  fields["recipe"] = info.recipe;
  return fields;
}

// Returns None, or (shape, chunkshape, blockshape, dtype, bytes of an item).
nb::object ArrayOf(const SnapshotHandle& self) {
  const std::optional<ArrayInfo>& array = self.snapshot.array();
  if (!array.has_value()) return nb::none();
  return nb::make_tuple(array->shape, array->chunkshape, array->blockshape,
                        nb::bytes(array->dtype.data(), array->dtype.size()),
                        self.snapshot.info().typesize);
}

nb::dict MetalayersOf(const SnapshotHandle& self) {
  nb::dict layers;
  for (const Metalayer& layer : self.snapshot.metalayers()) {
    layers[nb::cast(layer.name)] = ToPython(layer.content);
  }
  return layers;
}

nb::bytes GetVlmetalayer(const SnapshotHandle& self, const std::string& name) {
  return ToPython(
      Check(WithoutGil(self.context.remote, [&] { return self.snapshot.GetVlmetalayer(name); })));
}

void ReadBytes(const SnapshotHandle& self, int64_t begin, nb::handle out) {
  Buffer buffer(out, Buffer::kWrite);
  Check(WithoutGil(self.context.remote,
                   [&] { return self.snapshot.ReadBytes(begin, buffer.mutable_bytes()); }));
}

void ReadItemsAt(const SnapshotHandle& self, nb::handle items, nb::handle out) {
  const Buffer numbers(items, Buffer::kRead);
  Buffer buffer(out, Buffer::kWrite);
  Check(WithoutGil(self.context.remote, [&] {
    return self.snapshot.ReadItemsAt(numbers.numbers(), buffer.mutable_bytes());
  }));
}

void ReadBox(const SnapshotHandle& self, const std::vector<int64_t>& start,
             const std::vector<int64_t>& shape, nb::handle out) {
  Buffer buffer(out, Buffer::kWrite);
  Check(WithoutGil(self.context.remote,
                   [&] { return self.snapshot.ReadBox(start, shape, buffer.mutable_bytes()); }));
}

// Reads fields of all items. Each is an offset, a size and an array.
void ReadFields(const SnapshotHandle& self,
                const std::vector<std::tuple<int32_t, int32_t, nb::object>>& fields) {
  std::deque<Buffer> buffers;  // which do not move
  std::vector<FieldSpan> spans;
  for (const auto& [offset, size, out] : fields) {
    Buffer& buffer = buffers.emplace_back(out, Buffer::kWrite);
    spans.push_back({.offset = offset, .size = size, .dst = buffer.mutable_bytes()});
  }
  Check(WithoutGil(self.context.remote, [&] {
    return self.snapshot.ReadFields(0, self.snapshot.info().nitems, spans);
  }));
}

nb::bytes ReadChunk(const SnapshotHandle& self, int64_t nchunk) {
  const std::vector<std::byte> content =
      Check(WithoutGil(self.context.remote, [&]() -> absl::StatusOr<std::vector<std::byte>> {
        const absl::StatusOr<int32_t> nbytes = self.snapshot.ChunkNbytes(nchunk);
        if (!nbytes.ok()) return nbytes.status();
        std::vector<std::byte> decoded(static_cast<size_t>(*nbytes));
        if (absl::Status read = self.snapshot.ReadChunk(nchunk, decoded); !read.ok()) return read;
        return decoded;
      }));
  return ToPython(content);
}

// Reads items of one chunk from number `start` on.
void ReadPart(const SnapshotHandle& self, int64_t nchunk, int64_t start, nb::handle out) {
  Buffer buffer(out, Buffer::kWrite);
  Check(WithoutGil(self.context.remote, [&]() -> absl::Status {
    const absl::StatusOr<Chunk> chunk = self.snapshot.GetChunk(nchunk);
    if (!chunk.ok()) return chunk.status();
    return DecompressItems(chunk->bytes(), start, buffer.mutable_bytes());
  }));
}

nb::bytes GetChunk(const SnapshotHandle& self, int64_t nchunk) {
  const Chunk chunk =
      Check(WithoutGil(self.context.remote, [&] { return self.snapshot.GetChunk(nchunk); }));
  return ToPython(chunk.bytes());
}

// Returns (offset, size, codec, whether it is shuffled) of each column of a chunk.
nb::list GetCodedColumns(const SnapshotHandle& self, int64_t nchunk) {
  const Chunk chunk =
      Check(WithoutGil(self.context.remote, [&] { return self.snapshot.GetChunk(nchunk); }));
  nb::list columns;
  for (const CodedColumn& column : Check(CodedColumns(chunk.bytes()))) {
    columns.append(nb::make_tuple(column.offset, column.column.size * column.column.count,
                                  static_cast<int>(column.codec), column.shuffled));
  }
  return columns;
}

// Returns (stored bytes, decoded bytes, special value) of each chunk.
nb::list ChunkSizes(const SnapshotHandle& self, int64_t first, int64_t count) {
  struct Sizes {
    int64_t cbytes, nbytes;
    int special;
  };
  std::vector<Sizes> sizes;
  Check(WithoutGil(self.context.remote, [&]() -> absl::Status {
    for (int64_t nchunk = first; nchunk < first + count; ++nchunk) {
      const absl::StatusOr<ChunkEntry> entry = self.snapshot.GetEntry(nchunk);
      if (!entry.ok()) return entry.status();
      const absl::StatusOr<int32_t> nbytes = self.snapshot.ChunkNbytes(nchunk);
      if (!nbytes.ok()) return nbytes.status();
      int64_t cbytes = entry->cbytes.value_or(0);
      if (entry->stored() && !entry->cbytes.has_value()) {
        const absl::StatusOr<Chunk> chunk = self.snapshot.GetChunk(nchunk);
        if (!chunk.ok()) return chunk.status();
        cbytes = static_cast<int64_t>(chunk->bytes().size());
      }
      sizes.push_back({cbytes, *nbytes, static_cast<int>(entry->special)});
    }
    return absl::OkStatus();
  }));
  nb::list result;
  for (const Sizes& one : sizes) {
    result.append(nb::make_tuple(one.cbytes, one.nbytes, one.special));
  }
  return result;
}

nb::tuple Verify(const SnapshotHandle& self, int depth, nb::object progress) {
  return VerifyWith(self.context, self.snapshot, depth, std::move(progress));
}

}  // namespace

void BindSnapshot(nb::module_& module) {
  nb::class_<SnapshotHandle>(module, "Snapshot", "One immutable committed state of a frame.")
      .def("info", &InfoOf, nb::sig("def info(self) -> dict[str, typing.Any]"))
      .def("array", &ArrayOf,
           nb::sig("def array(self) -> tuple[list[int], list[int], list[int], bytes, int] | None"))
      .def("metalayers", &MetalayersOf, nb::sig("def metalayers(self) -> dict[str, bytes]"))
      .def("vlmetalayers", [](const SnapshotHandle& self) { return self.snapshot.vlmetalayers(); })
      .def("get_vlmetalayer", &GetVlmetalayer, "name"_a)
      .def("read_bytes", &ReadBytes, "begin"_a, "out"_a)
      .def("read_items_at", &ReadItemsAt, "items"_a, "out"_a)
      .def("read_box", &ReadBox, "start"_a, "shape"_a, "out"_a)
      .def("read_fields", &ReadFields, "fields"_a)
      .def("read_chunk", &ReadChunk, "nchunk"_a)
      .def("read_part", &ReadPart, "nchunk"_a, "start"_a, "out"_a)
      .def("get_chunk", &GetChunk, "nchunk"_a)
      .def("coded_columns", &GetCodedColumns, "nchunk"_a,
           nb::sig("def coded_columns(self, nchunk: int) -> list[tuple[int, int, int, bool]]"))
      .def("chunk_sizes", &ChunkSizes, "first"_a, "count"_a,
           nb::sig("def chunk_sizes(self, first: int, count: int) -> list[tuple[int, int, int]]"))
      .def("verify", &Verify, "depth"_a, "progress"_a.none(), nb::sig(CAIRN_VERIFY_SIGNATURE))
      .def("content_hash",
           [](const SnapshotHandle& self) {
             return Check(
                 WithoutGil(self.context.remote, [&] { return self.snapshot.ContentHash(); }));
           })
      .def("is_same", [](const SnapshotHandle& self, const SnapshotHandle& other) {
        return self.snapshot == other.snapshot;
      });
}

}  // namespace cairn::python
