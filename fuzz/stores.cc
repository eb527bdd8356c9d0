// The input is a packed store, or after a byte the list of a store of values.

#include <memory>
#include <string>

#include "cairn/collection.h"
#include "cairn/file_system.h"
#include "engine/collection/store/embedded_values.h"
#include "engine/collection/store/zip_directory.h"
#include "fuzz/check.h"
#include "fuzz/input.h"
#include "fuzz/mutator.h"

namespace cairn::fuzz {
namespace {

void ReadValues(Bytes input) {
  const absl::StatusOr<collection::EmbeddedValues> values = collection::ParseEmbeddedValues(input);
  if (!IsAnswer(values.status())) return;
  for (const auto& [name, value] : *values) {
    Check(value.offset >= 0 && value.length >= 0, "values have places", name);
  }
}

void ReadZip(const File& file, int64_t size) {
  const auto entries = collection::ReadZipDirectory(file);
  if (!IsAnswer(entries.status())) return;
  int64_t end = 0;
  for (const collection::ZipEntry& entry : *entries) {
    Check(entry.header >= end && entry.end <= size, "entries share no bytes", entry.name);
    end = entry.header + entry.size;
    const absl::StatusOr<int64_t> begin = collection::FindZipData(file, entry);
    if (IsAnswer(begin.status())) {
      Check(*begin + entry.size <= entry.end, "data lies in its entry", entry.name);
    }
  }
}

void ReadStore(const std::shared_ptr<FileSystem>& files) {
  const absl::StatusOr<Collection> store =
      Collection::Open("store", {.members = {.file_system = files}});
  if (!store.ok()) return;
  for (const std::string& name : store->snapshot().Members()) {
    store->snapshot().OpenMember(name).status().IgnoreError();
  }
  store->snapshot().Verify().status().IgnoreError();
}

void Read(Bytes input) {
  Input in(input);
  if (in.Flag()) return ReadValues(in.rest());
  const std::shared_ptr<FileSystem> files = MakeMemoryFileSystem();
  const std::unique_ptr<File> file = files->Open("store", FileMode::kCreateNew).value();
  Check(file->WriteAt(0, in.rest()).ok(), "the file is written");
  ReadZip(*file, std::ssize(in.rest()));
  ReadStore(files);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::AsBytes(data, size));
  return 0;
}
