#include "cairn/frame.h"

#include <chrono>
#include <memory>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "tools/python/binding/calls.h"
#include "tools/python/binding/handles.h"
#include "tools/python/binding/recipe.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

namespace {

using namespace nb::literals;

FrameHandle OpenFrame(const std::string& path, std::optional<uint64_t> generation,
                      bool durable_only, bool mmap, int verify, int64_t cache_memory,
                      const LimitValues& limits, int threads, nb::handle files) {
  Context context = MakeContext(threads, files);
  OpenOptions options = MakeOpenOptions(context, durable_only, mmap, verify, limits);
  options.cache_memory = cache_memory;
  options.generation = generation;
  Frame frame = Check(WithoutGil(context.remote, [&] { return Frame::Open(path, options); }));
  return {std::move(context), std::move(frame)};
}

WriterHandle* Build(const std::string& path, const Recipe& recipe, int threads, nb::handle files) {
  Context context = MakeContext(threads, files);
  CreateOptions options = recipe.options;
  options.compression.executor = context.executor;
  options.file_system = context.files();
  Writer writer =
      Check(WithoutGil(context.remote, [&] { return Frame::BeginCreate(path, options); }));
  return new WriterHandle(std::move(context), std::move(writer));
}

FrameHandle CreateInMemory(const Recipe& recipe, int threads) {
  Context context = MakeContext(threads, nb::none());
  CreateOptions options = recipe.options;
  options.compression.executor = context.executor;
  Frame frame = Check(WithoutGil([&] { return Frame::CreateInMemory(options); }));
  return {std::move(context), std::move(frame)};
}

WriterHandle* OpenFrameWriter(FrameHandle& self, int64_t wait, uint64_t keep_generations,
                              int64_t max_file_size) {
  WriterOptions options;
  options.keep_generations = keep_generations;
  options.max_file_size = max_file_size;
  options.executor = self.context.executor;
  Writer writer = Check(WaitWithoutGil(
      self.context.remote, wait,
      [&](std::chrono::milliseconds part) {
        options.wait = part;
        return self.frame.OpenWriter(options);
      },
      [](const auto& opened) { return !absl::IsUnavailable(opened.status()); }));
  return new WriterHandle(self.context, std::move(writer));
}

nb::list History(const FrameHandle& self, std::optional<uint64_t> before, int64_t limit) {
  const std::vector<GenerationInfo> history = Check(WithoutGil(
      self.context.remote, [&] { return self.frame.History({.before = before, .limit = limit}); }));
  nb::list generations;
  for (const GenerationInfo& one : history) {
    generations.append(
        nb::make_tuple(one.generation, one.checkpoint, one.nchunks, one.nbytes, one.end));
  }
  return generations;
}

nb::tuple Compact(FrameHandle& self, int64_t wait, nb::object progress) {
  Progress reported(std::move(progress));
  CompactOptions options;
  options.progress = [&](int64_t done) { return reported.Report(done); };
  absl::StatusOr<CompactReport> report = WaitWithoutGil(
      self.context.remote, wait,
      [&](std::chrono::milliseconds part) {
        options.wait = part;
        return self.frame.Compact(options);
      },
      [](const auto& compacted) { return !absl::IsUnavailable(compacted.status()); });
  reported.RaiseError();
  const CompactReport sizes = Check(std::move(report));
  return nb::make_tuple(sizes.size_before, sizes.size_after);
}

void CopyTo(FrameHandle& self, const std::string& path, bool overwrite, nb::object progress,
            nb::handle files) {
  Progress reported(std::move(progress));
  CopyOptions options;
  options.overwrite = overwrite;
  RemoteFiles* const target = ToRemote(files);
  options.file_system = target == nullptr ? nullptr : target->files;
  options.progress = [&](int64_t done) { return reported.Report(done); };
  RemoteFiles* const remote = target == nullptr ? self.context.remote : target;
  const absl::Status copied = WithoutGil(remote, [&]() -> absl::Status {
    const absl::StatusOr<Snapshot> newest = self.frame.Refresh();
    return newest.ok() ? newest->CopyTo(path, options) : newest.status();
  });
  reported.RaiseError();
  Check(copied);
}

// Gives a file or a directory another name, durably. What had the name gets the old one if
// `overwrite` is true; otherwise nothing may have it.
void MoveTo(const std::string& path, const std::string& to, bool overwrite) {
  Check(WithoutGil([&]() -> absl::Status {
    FileSystem& files = *PosixFileSystem();
    absl::Status moved = files.Rename(path, to, false);
    if (overwrite && absl::IsAlreadyExists(moved)) moved = files.Exchange(path, to);
    if (!moved.ok()) return moved;
    return files.SyncDirectoryOf(to);
  }));
}

}  // namespace

void BindFrame(nb::module_& module) {
  nb::class_<Recipe>(module, "Recipe", "How to make a frame.")
      .def(nb::init<>())
      .def(
          "set_compression",
          [](Recipe& self, int codec, int clevel, int codec_meta, int32_t typesize,
             int32_t blocksize, bool use_dict) {
            CompressionOptions& compression = self.options.compression;
            compression.codec = static_cast<Codec>(codec);
            compression.clevel = clevel;
            compression.codec_meta = static_cast<uint8_t>(codec_meta);
            compression.typesize = typesize;
            compression.blocksize = blocksize;
            compression.use_dict = use_dict;
          },
          "codec"_a, "clevel"_a, "codec_meta"_a, "typesize"_a, "blocksize"_a, "use_dict"_a)
      .def("set_filters", &Recipe::SetFilters, "stages"_a)
      .def(
          "set_place",
          [](Recipe& self, int32_t chunksize, bool sparse, bool overwrite) {
            self.options.chunksize = chunksize == 0 ? ChunkSize::Variable() : ChunkSize(chunksize);
            self.options.layout = sparse ? Layout::kSparse : Layout::kContiguous;
            self.options.overwrite = overwrite;
          },
          "chunksize"_a, "sparse"_a, "overwrite"_a)
      .def("set_array", &Recipe::SetArray, "shape"_a, "chunkshape"_a, "blockshape"_a, "dtype"_a)
      .def("add_metalayer", &Recipe::AddMetalayer, "name"_a, "content"_a);

  nb::class_<FrameHandle>(module, "Frame", "A frame: a file, a directory or bytes in memory.")
      .def("snapshot",
           [](const FrameHandle& self) {
             return SnapshotHandle{self.context, self.frame.snapshot()};
           })
      .def("refresh",
           [](FrameHandle& self) {
             return SnapshotHandle{
                 self.context,
                 Check(WithoutGil(self.context.remote, [&] { return self.frame.Refresh(); }))};
           })
      .def(
          "wait_for_commit",
          [](FrameHandle& self, const SnapshotHandle& seen, int64_t timeout) {
            return SnapshotHandle{
                self.context,
                Check(WaitWithoutGil(
                    self.context.remote, timeout,
                    [&](std::chrono::milliseconds part) {
                      return self.frame.WaitForCommit(seen.snapshot, part);
                    },
                    [&](const auto& now) { return !now.ok() || *now != seen.snapshot; }))};
          },
          "seen"_a, "timeout"_a)
      .def("history", &History, "before"_a.none(), "limit"_a,
           nb::sig("def history(self, before: int | None, limit: int) -> list[tuple[int, bool, "
                   "int, int, int]]"))
      .def("open_writer", &OpenFrameWriter, "wait"_a, "keep_generations"_a, "max_file_size"_a)
      .def("compact", &Compact, "wait"_a, "progress"_a.none(),
           nb::sig("def compact(self, wait: int, progress: object | None) -> tuple[int, int]"))
      .def("copy_to", &CopyTo, "path"_a, "overwrite"_a, "progress"_a.none(), "files"_a.none())
      .def("to_bytes", [](const FrameHandle& self) {
        return ToPython(Check(
            WithoutGil(self.context.remote, [&] { return self.frame.snapshot().ToBuffer(); })));
      });

  module.def("open", &OpenFrame, "path"_a, "generation"_a.none(), "durable_only"_a, "mmap"_a,
             "verify"_a, "cache_memory"_a, "limits"_a, "threads"_a, "files"_a.none());
  module.def("build", &Build, "path"_a, "recipe"_a, "threads"_a, "files"_a.none());
  module.def("create_in_memory", &CreateInMemory, "recipe"_a, "threads"_a);
  module.def("move_to", &MoveTo, "path"_a, "to"_a, "overwrite"_a);
}

}  // namespace cairn::python
