// Appends to a frame in an object store from two writers at once, and reads what both have written.
// It takes a name such as s3://bucket/name for a new frame, and the environment variables of every
// S3 client (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL and so on). Without a name it uses a store in
// memory, which goes with the process.
//
// Prints:
//   writer 1: 3 items in the frame
//   writer 2: 5 items in the frame
//   item 1
//   item 2
//   item 3
//   item 40
//   item 50
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cairn/frame.h"
#include "cairn/object_store.h"
#include "cairn/s3.h"

absl::Status Run(const std::string& path, const std::shared_ptr<cairn::FileSystem>& files) {
  cairn::CreateOptions options;
  options.compression.typesize = sizeof(int32_t);
  options.layout = cairn::Layout::kSparse;  // one object for each chunk
  options.file_system = files;
  auto created = cairn::Frame::Create(path, options);
  if (!created.ok()) return created.status();

  // Each machine opens the frame and its own writer. None of them locks it.
  auto frame1 = cairn::Frame::Open(path, {.file_system = files});
  if (!frame1.ok()) return frame1.status();
  auto frame2 = cairn::Frame::Open(path, {.file_system = files});
  if (!frame2.ok()) return frame2.status();
  auto writer1 = frame1->OpenWriter();
  if (!writer1.ok()) return writer1.status();
  auto writer2 = frame2->OpenWriter();
  if (!writer2.ok()) return writer2.status();

  // Both stage items. Each commit is one request, which the store does or does not do. The second
  // commit finds the first one, and puts its items after those.
  if (auto status = writer1->Append(std::vector<int32_t>{1, 2, 3}); !status.ok()) return status;
  if (auto status = writer2->Append(std::vector<int32_t>{40, 50}); !status.ok()) return status;
  auto committed = writer1->Commit();
  if (!committed.ok()) return committed.status();
  std::printf("writer 1: %d items in the frame\n", static_cast<int>(committed->info().nitems));
  committed = writer2->Commit();
  if (!committed.ok()) return committed.status();
  std::printf("writer 2: %d items in the frame\n", static_cast<int>(committed->info().nitems));

  auto now = created->Refresh();
  if (!now.ok()) return now.status();
  std::vector<int32_t> items(static_cast<size_t>(now->info().nitems));
  if (auto status = now->ReadItems(0, items); !status.ok()) return status;
  for (const int32_t item : items) std::printf("item %d\n", static_cast<int>(item));
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  const bool in_memory = argc < 2;
  const std::shared_ptr<cairn::FileSystem> files =
      in_memory ? cairn::MakeObjectFileSystem(cairn::MakeMemoryObjectStore())
                : cairn::MakeUriFileSystem(cairn::S3OptionsFromEnvironment());
  const absl::Status status = Run(in_memory ? "items" : argv[1], files);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
