// The edits that writers of frames and of a collection's members share.
#ifndef CAIRN_TOOLS_PYTHON_BINDING_EDITS_H_
#define CAIRN_TOOLS_PYTHON_BINDING_EDITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "cairn/types.h"
#include "tools/python/binding/calls.h"
#include "tools/python/binding/handles.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

// Binds edit(writer, bytes, arguments...) as a method that takes the object with the bytes last.
template <typename Handle, typename... Arguments, typename Edit>
auto WithBytes(Edit edit) {
  return [edit](Handle& self, Arguments... arguments, nb::handle object) {
    const Buffer buffer(object, Buffer::kRead);
    Check(self.With([&](auto& writer) { return edit(writer, buffer.bytes(), arguments...); }));
  };
}

// Binds an edit without bytes.
template <typename Handle, typename... Arguments, typename Edit>
auto Simple(Edit edit) {
  return [edit](Handle& self, Arguments... arguments) {
    Check(self.With([&](auto& writer) { return edit(writer, arguments...); }));
  };
}

// Binds the edits of a handle. Handle::With(call) runs call(writer) for a Writer or a MemberWriter.
template <typename Handle>
void BindEdits(nb::class_<Handle>& writer) {
  using namespace nb::literals;
  using Numbers = const std::vector<int64_t>&;
  using Text = const std::string&;
  writer
      .def("append", WithBytes<Handle>([](auto& w, Bytes items) { return w.Append(items); }),
           "items"_a)
      .def("append_chunk",
           WithBytes<Handle>([](auto& w, Bytes chunk) { return w.AppendCompressed(chunk); }),
           "chunk"_a)
      .def("append_special",
           WithBytes<Handle, int, int64_t>([](auto& w, Bytes value, int special, int64_t nitems) {
             return w.AppendSpecial(static_cast<SpecialValue>(special), nitems, value);
           }),
           "special"_a, "nitems"_a, "value"_a)
      .def("insert_chunk", WithBytes<Handle, int64_t>([](auto& w, Bytes items, int64_t nchunk) {
             return w.InsertChunk(nchunk, items);
           }),
           "nchunk"_a, "items"_a)
      .def("update_chunk", WithBytes<Handle, int64_t>([](auto& w, Bytes items, int64_t nchunk) {
             return w.UpdateChunk(nchunk, items);
           }),
           "nchunk"_a, "items"_a)
      .def("delete_chunks",
           Simple<Handle, int64_t, int64_t>(
               [](auto& w, int64_t first, int64_t count) { return w.DeleteChunks(first, count); }),
           "first"_a, "count"_a)
      .def("write_items", WithBytes<Handle, int64_t>([](auto& w, Bytes items, int64_t start) {
             return w.WriteItems(start, items);
           }),
           "start"_a, "items"_a)
      .def("write_box",
           WithBytes<Handle, Numbers, Numbers>(
               [](auto& w, Bytes items, Numbers start, Numbers shape) {
                 return w.WriteBox(start, shape, items);
               }),
           "start"_a, "shape"_a, "items"_a)
      .def("resize",
           Simple<Handle, Numbers>([](auto& w, Numbers shape) { return w.ResizeArray(shape); }),
           "shape"_a)
      .def("append_slices", WithBytes<Handle, int>([](auto& w, Bytes items, int axis) {
             return w.AppendSlices(axis, items);
           }),
           "axis"_a, "items"_a)
      .def("set_metalayer", WithBytes<Handle, Text>([](auto& w, Bytes content, Text name) {
             return w.SetMetalayer(name, content);
           }),
           "name"_a, "content"_a)
      .def("set_vlmetalayer", WithBytes<Handle, Text>([](auto& w, Bytes content, Text name) {
             return w.SetVlmetalayer(name, content);
           }),
           "name"_a, "content"_a)
      .def("delete_vlmetalayer",
           Simple<Handle, Text>([](auto& w, Text name) { return w.DeleteVlmetalayer(name); }),
           "name"_a)
      .def("staged", [](Handle& self) {
        return SnapshotHandle{self.context(),
                              Check(self.With([](auto& w) { return w.StagedSnapshot(); }))};
      });
}

}  // namespace cairn::python

#endif  // CAIRN_TOOLS_PYTHON_BINDING_EDITS_H_
