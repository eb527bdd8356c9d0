// Chunks without a frame.
#include "cairn/chunk.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>

#include "tools/python/binding/calls.h"
#include "tools/python/binding/handles.h"
#include "tools/python/binding/recipe.h"

namespace cairn::python {

using nb::literals::operator""_a;

namespace {

nb::bytes Compress(nb::handle object, const Recipe& recipe) {
  const Buffer content(object, Buffer::kRead);
  const std::vector<std::byte> chunk =
      Check(WithoutGil([&]() -> absl::StatusOr<std::vector<std::byte>> {
        std::vector<std::byte> compressed(MaxCompressedSize(content.bytes().size()));
        const absl::StatusOr<size_t> size =
            CompressChunk(content.bytes(), recipe.options.compression, compressed);
        if (!size.ok()) return size.status();
        compressed.resize(*size);
        return compressed;
      }));
  return ToPython(chunk);
}

int64_t DecompressedSize(nb::handle object) {
  return Check(InspectChunk(Buffer(object, Buffer::kRead).bytes())).nbytes;
}

void Decompress(nb::handle object, nb::handle target) {
  const Buffer chunk(object, Buffer::kRead);
  Buffer out(target, Buffer::kWrite);
  Check(WithoutGil([&] { return DecompressChunk(chunk.bytes(), out.mutable_bytes()); }));
}

}  // namespace

void BindChunk(nb::module_& module) {
  module.def("compress_chunk", &Compress, "content"_a, "recipe"_a);
  module.def("decompressed_size", &DecompressedSize, "chunk"_a);
  module.def("decompress_chunk", &Decompress, "chunk"_a, "out"_a);
}

}  // namespace cairn::python
