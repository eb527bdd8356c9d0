#include "cairn/writer.h"

#include <chrono>

#include <nanobind/stl/vector.h>

#include "tools/python/binding/calls.h"
#include "tools/python/binding/handles.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

namespace {

using namespace nb::literals;

// Binds edit(writer, bytes, arguments...) as a method that takes the object with the bytes last.
template <typename... Arguments, typename Edit>
auto WithBytes(Edit edit) {
  return [edit](WriterHandle& self, Arguments... arguments, nb::handle object) {
    const Buffer buffer(object, Buffer::kRead);
    Check(self.With([&](Writer& writer) { return edit(writer, buffer.bytes(), arguments...); }));
  };
}

// Binds an edit without bytes.
template <typename... Arguments, typename Edit>
auto Simple(Edit edit) {
  return [edit](WriterHandle& self, Arguments... arguments) {
    Check(self.With([&](Writer& writer) { return edit(writer, arguments...); }));
  };
}

SnapshotHandle Commit(WriterHandle& self, bool durable) {
  const Durability durability = durable ? Durability::kMachine : Durability::kProcess;
  return {self.context(),
          Check(self.With([&](Writer& writer) { return writer.Commit(durability); }))};
}

SnapshotHandle Staged(WriterHandle& self) {
  return {self.context(), Check(self.With([](Writer& writer) { return writer.StagedSnapshot(); }))};
}

nb::tuple Reclaim(WriterHandle& self, uint64_t keep_generations) {
  const ReclaimReport report = Check(self.With(
      [&](Writer& writer) { return writer.Reclaim({.keep_generations = keep_generations}); }));
  return nb::make_tuple(report.freed, report.blocked, report.oldest_generation);
}

}  // namespace

void BindWriter(nb::module_& module) {
  using Numbers = const std::vector<int64_t>&;
  using Text = const std::string&;
  nb::class_<WriterHandle>(module, "Writer", "Stages edits and commits them all at once.")
      .def("append", WithBytes<>([](Writer& w, Bytes items) { return w.Append(items); }), "items"_a)
      .def("append_chunk",
           WithBytes<>([](Writer& w, Bytes chunk) { return w.AppendCompressed(chunk); }), "chunk"_a)
      .def("append_special",
           WithBytes<int, int64_t>([](Writer& w, Bytes value, int special, int64_t nitems) {
             return w.AppendSpecial(static_cast<SpecialValue>(special), nitems, value);
           }),
           "special"_a, "nitems"_a, "value"_a)
      .def("insert_chunk", WithBytes<int64_t>([](Writer& w, Bytes items, int64_t nchunk) {
             return w.InsertChunk(nchunk, items);
           }),
           "nchunk"_a, "items"_a)
      .def("update_chunk", WithBytes<int64_t>([](Writer& w, Bytes items, int64_t nchunk) {
             return w.UpdateChunk(nchunk, items);
           }),
           "nchunk"_a, "items"_a)
      .def("delete_chunks", Simple<int64_t, int64_t>([](Writer& w, int64_t first, int64_t count) {
             return w.DeleteChunks(first, count);
           }),
           "first"_a, "count"_a)
      .def("write_items", WithBytes<int64_t>([](Writer& w, Bytes items, int64_t start) {
             return w.WriteItems(start, items);
           }),
           "start"_a, "items"_a)
      .def("write_box",
           WithBytes<Numbers, Numbers>([](Writer& w, Bytes items, Numbers start, Numbers shape) {
             return w.WriteBox(start, shape, items);
           }),
           "start"_a, "shape"_a, "items"_a)
      .def("resize", Simple<Numbers>([](Writer& w, Numbers shape) { return w.ResizeArray(shape); }),
           "shape"_a)
      .def("append_slices", WithBytes<int>([](Writer& w, Bytes items, int axis) {
             return w.AppendSlices(axis, items);
           }),
           "axis"_a, "items"_a)
      .def("set_metalayer", WithBytes<Text>([](Writer& w, Bytes content, Text name) {
             return w.SetMetalayer(name, content);
           }),
           "name"_a, "content"_a)
      .def("set_vlmetalayer", WithBytes<Text>([](Writer& w, Bytes content, Text name) {
             return w.SetVlmetalayer(name, content);
           }),
           "name"_a, "content"_a)
      .def("delete_vlmetalayer",
           Simple<Text>([](Writer& w, Text name) { return w.DeleteVlmetalayer(name); }), "name"_a)
      .def("staged", &Staged)
      .def("commit", &Commit, "durable"_a)
      .def("flush", Simple<>([](Writer& w) { return w.Flush(); }))
      .def("suspend", Simple<>([](Writer& w) { return w.Suspend(); }))
      .def(
          "resume",
          [](WriterHandle& self, int64_t wait) {
            Check(self.WaitWith(wait, [](Writer& writer, std::chrono::milliseconds part) {
              return writer.Resume(part);
            }));
          },
          "wait"_a)
      .def("checkpoint", Simple<>([](Writer& w) { return w.Checkpoint(); }))
      .def("rollback",
           [](WriterHandle& self) { self.With([](Writer& writer) { writer.Rollback(); }); })
      .def("reclaim", &Reclaim, "keep_generations"_a,
           nb::sig("def reclaim(self, keep_generations: int) -> tuple[int, bool, int]"))
      .def("close", Simple<>([](Writer& w) { return w.Close(); }));
}

}  // namespace cairn::python
