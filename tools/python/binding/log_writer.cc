#include "cairn/log_writer.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "tools/python/binding/calls.h"
#include "tools/python/binding/log_handles.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

namespace {

using namespace nb::literals;

// Binds a call of the writer without arguments.
auto Simple(absl::Status (LogWriter::*call)()) {
  return [call](LogWriterHandle& self) {
    Check(self.With([&](LogWriter& writer) { return (writer.*call)(); }));
  };
}

void Append(LogWriterHandle& self, nb::handle records) {
  const Buffer buffer(records, Buffer::kRead);
  Check(self.With([&](LogWriter& writer) { return writer.Append(buffer.bytes()); }));
}

void SetRetention(LogWriterHandle& self, const RetentionLimits& limits) {
  Check(self.With([&](LogWriter& writer) { return writer.SetRetention(ToRetention(limits)); }));
}

void SetRotation(LogWriterHandle& self, const RotationLimits& limits) {
  Check(self.With([&](LogWriter& writer) { return writer.SetRotation(ToRotation(limits)); }));
}

}  // namespace

void BindLogWriter(nb::module_& module) {
  nb::class_<LogWriterHandle>(module, "LogWriter", "Takes records and commits them.")
      .def("append", &Append, "records"_a)
      .def("commit", Simple(&LogWriter::Commit))
      .def("checkpoint", Simple(&LogWriter::Checkpoint))
      .def("set_retention", &SetRetention, "limits"_a)
      .def("set_rotation", &SetRotation, "limits"_a)
      .def("apply_retention", Simple(&LogWriter::ApplyRetention))
      .def(
          "delete",
          [](LogWriterHandle& self, int64_t begin, int64_t end,
             const std::vector<std::string>& filters) {
            const LogSelection which = {.times = {.begin = begin, .end = end}, .filters = filters};
            return Check(self.With([&](LogWriter& writer) { return writer.Delete(which); }));
          },
          "begin"_a, "end"_a, "filters"_a)
      .def(
          "upsert",
          [](LogWriterHandle& self, nb::handle records, const std::vector<std::string>& key,
             bool time_only) {
            const Buffer buffer(records, Buffer::kRead);
            const UpsertReport done = Check(self.With([&](LogWriter& writer) {
              return writer.Upsert(buffer.bytes(), {.key = key, .time_only = time_only});
            }));
            return std::tuple(done.inserted, done.replaced, done.unchanged, done.removed);
          },
          "records"_a, "key"_a, "time_only"_a)
      .def(
          "add_field",
          [](LogWriterHandle& self, const std::string& dtype, int32_t size,
             const std::vector<std::string>& texts) {
            const Schema added = Check(Check(Schema::FromDtype(dtype, size)).WithTexts(texts));
            Check(self.With(
                [&](LogWriter& writer) { return writer.AddField(added.fields().front()); }));
          },
          "dtype"_a, "size"_a, "texts"_a)
      .def(
          "codes_of",
          [](LogWriterHandle& self, const std::string& field,
             const std::vector<std::string>& texts) {
            std::vector<uint32_t> codes;
            codes.reserve(texts.size());
            self.writer.Use([&](LogWriter& writer) {
              for (const std::string& text : texts) {
                codes.push_back(Check(writer.CodeOf(field, text)));
              }
            });
            return ToPython(std::as_bytes(std::span(codes)));
          },
          "field"_a, "texts"_a)
      .def("end_record",
           [](LogWriterHandle& self) {
             return self.With([](LogWriter& writer) { return writer.end_record(); });
           })
      .def("snapshot",
           [](LogWriterHandle& self) {
             return LogSnapshotHandle{
                 self.context, self.With([](LogWriter& writer) { return writer.snapshot(); })};
           })
      .def("close", Simple(&LogWriter::Close));
}

}  // namespace cairn::python
