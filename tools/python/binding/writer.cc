#include "cairn/writer.h"

#include <chrono>

#include "tools/python/binding/calls.h"
#include "tools/python/binding/edits.h"
#include "tools/python/binding/handles.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

namespace {

using namespace nb::literals;

SnapshotHandle Commit(WriterHandle& self, bool durable) {
  const Durability durability = durable ? Durability::kMachine : Durability::kProcess;
  return {self.context(),
          Check(self.With([&](Writer& writer) { return writer.Commit(durability); }))};
}

nb::tuple Reclaim(WriterHandle& self, uint64_t keep_generations) {
  const ReclaimReport report = Check(self.With(
      [&](Writer& writer) { return writer.Reclaim({.keep_generations = keep_generations}); }));
  return nb::make_tuple(report.freed, report.blocked, report.oldest_generation);
}

}  // namespace

void BindWriter(nb::module_& module) {
  nb::class_<WriterHandle> writer(module, "Writer", "Stages edits and commits them all at once.");
  BindEdits(writer);
  writer.def("commit", &Commit, "durable"_a)
      .def("flush", Simple<WriterHandle>([](Writer& w) { return w.Flush(); }))
      .def("suspend", Simple<WriterHandle>([](Writer& w) { return w.Suspend(); }))
      .def(
          "resume",
          [](WriterHandle& self, int64_t wait) {
            Check(self.WaitWith(wait, [](Writer& writer, std::chrono::milliseconds part) {
              return writer.Resume(part);
            }));
          },
          "wait"_a)
      .def("checkpoint", Simple<WriterHandle>([](Writer& w) { return w.Checkpoint(); }))
      .def("rollback",
           [](WriterHandle& self) { self.With([](Writer& writer) { writer.Rollback(); }); })
      .def("reclaim", &Reclaim, "keep_generations"_a,
           nb::sig("def reclaim(self, keep_generations: int) -> tuple[int, bool, int]"))
      .def("close", Simple<WriterHandle>([](Writer& w) { return w.Close(); }));
}

}  // namespace cairn::python
