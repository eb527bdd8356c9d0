// How the library takes and gives structs of programs that were compiled with an older header.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "cairn/cairn.h"
#include "cairn/file_system.h"
#include "cairn/files_handle.h"
#include "cairn/options.h"
#include "cairn/types.h"
#include "engine/c_api/options.h"
#include "engine/c_api/versioned_struct.h"

namespace cairn::c_api {
namespace {

// A struct that has grown twice.
struct Grown {
  size_t struct_size;
  int64_t first;
  int64_t second;
  int64_t third;
};

}  // namespace

template <>
struct StructVersions<Grown> {
  static constexpr std::array<size_t, 3> kSizes = {offsetof(Grown, second), offsetof(Grown, third),
                                                   sizeof(Grown)};
};

namespace {

constexpr Grown kGrownDefaults = {sizeof(Grown), 10, 20, 30};

TEST(StructVersionsTest, FieldsThatAnOlderProgramLacksKeepTheirDefaults) {
  // The library must not read bytes after an older struct.
  const Grown given = {offsetof(Grown, second), 1, 2, 3};
  const auto read = ReadStruct(&given, kGrownDefaults, "options");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->first, 1);
  EXPECT_EQ(read->second, 20);
  EXPECT_EQ(read->third, 30);
}

TEST(StructVersionsTest, NoOptionsMeanTheDefaults) {
  const auto read = ReadStruct<Grown>(nullptr, kGrownDefaults, "options");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->first, 10);
}

TEST(StructVersionsTest, OnlyFieldsThatTheProgramKnowsAreWritten) {
  Grown out = {offsetof(Grown, third), 1, 2, 3};
  ASSERT_TRUE(CheckStruct(&out, "info").ok());
  WriteStruct(kGrownDefaults, &out);
  EXPECT_EQ(out.struct_size, offsetof(Grown, third));
  EXPECT_EQ(out.first, 10);
  EXPECT_EQ(out.second, 20);
  EXPECT_EQ(out.third, 3);
}

TEST(StructVersionsTest, SizesBetweenVersionsAreRefused) {
  for (size_t size = 0; size < 2 * sizeof(Grown); ++size) {
    const Grown given = {size, 1, 2, 3};
    const bool known = size == 16 || size == 24 || size == 32;
    EXPECT_EQ(ReadStruct(&given, kGrownDefaults, "options").ok(), known) << size;
  }
}

TEST(StructVersionsTest, ProgramsOfBeforeBlockshapesAreServed) {
  constexpr int32_t kUnknown = 7;
  cairn_compression_options compression = CAIRN_COMPRESSION_OPTIONS_INIT;
  compression.struct_size = offsetof(cairn_compression_options, blockshape);
  compression.blockshape = &kUnknown;
  compression.ndim = 1;
  const auto compress = ToCpp(&compression);
  ASSERT_TRUE(compress.ok());
  EXPECT_TRUE(compress->blockshape.empty());

  cairn_decompression_options decompression = CAIRN_DECOMPRESSION_OPTIONS_INIT;
  decompression.struct_size = offsetof(cairn_decompression_options, blockshape);
  decompression.blockshape = &kUnknown;
  decompression.ndim = 1;
  const auto decompress = ToCpp(&decompression);
  ASSERT_TRUE(decompress.ok());
  EXPECT_TRUE(decompress->blockshape.empty());
}

TEST(StructVersionsTest, ProgramsOfBeforeFilesAreServed) {
  // Any handle: what lies after an older struct is not looked at.
  const auto* const unknown = reinterpret_cast<const cairn_files*>(&kGrownDefaults);
  cairn_open_options open = CAIRN_OPEN_OPTIONS_INIT;
  open.struct_size = offsetof(cairn_open_options, files);
  open.files = unknown;
  const auto c_open = ToCpp(&open);
  ASSERT_TRUE(c_open.ok());
  EXPECT_EQ(c_open->file_system, nullptr);

  cairn_create_options create = CAIRN_CREATE_OPTIONS_INIT;
  create.struct_size = offsetof(cairn_create_options, files);
  create.files = unknown;
  const auto c_create = ToCpp(&create);
  ASSERT_TRUE(c_create.ok());
  EXPECT_EQ(c_create->file_system, nullptr);
}

TEST(StructVersionsTest, ProgramsOfBeforeBoundsOfMemoryAreServed) {
  cairn_open_options open = CAIRN_OPEN_OPTIONS_INIT;
  open.struct_size = offsetof(cairn_open_options, cache_memory);
  open.cache_memory = 7;
  ASSERT_TRUE(ToCpp(&open).ok());
  EXPECT_EQ(ToCpp(&open)->cache_memory, OpenOptions().cache_memory);
  open.struct_size = sizeof open;
  EXPECT_EQ(ToCpp(&open)->cache_memory, 7);

  cairn_writer_options writer = CAIRN_WRITER_OPTIONS_INIT;
  writer.struct_size = offsetof(cairn_writer_options, staged_memory);
  writer.staged_memory = 7;
  ASSERT_TRUE(ToCpp(&writer).ok());
  EXPECT_EQ(ToCpp(&writer)->staged_memory, WriterOptions().staged_memory);
  writer.struct_size = sizeof writer;
  EXPECT_EQ(ToCpp(&writer)->staged_memory, 7);
}

TEST(StructVersionsTest, ProgramsOfBeforeTheDurabilityOfOpeningAreServed) {
  cairn_writer_options writer = CAIRN_WRITER_OPTIONS_INIT;
  writer.struct_size = offsetof(cairn_writer_options, opening);
  writer.opening = CAIRN_DURABILITY_PROCESS;
  ASSERT_TRUE(ToCpp(&writer).ok());
  EXPECT_EQ(ToCpp(&writer)->opening, WriterOptions().opening);
  writer.struct_size = sizeof writer;
  EXPECT_EQ(ToCpp(&writer)->opening, Durability::kProcess);
}

TEST(StructVersionsTest, CopiesAndRepairsUseTheirFiles) {
  cairn_files* files = nullptr;
  ASSERT_EQ(ReturnFiles(MakeMemoryFileSystem(), &files, nullptr), CAIRN_OK);
  cairn_frame* frame = nullptr;
  ASSERT_EQ(cairn_frame_create_in_memory(nullptr, &frame, nullptr), CAIRN_OK);
  cairn_snapshot* snapshot = nullptr;
  ASSERT_EQ(cairn_frame_snapshot(frame, &snapshot, nullptr), CAIRN_OK);
  cairn_copy_options copy = CAIRN_COPY_OPTIONS_INIT;
  copy.files = files;
  EXPECT_EQ(cairn_snapshot_copy_to(snapshot, "/copy", &copy, nullptr), CAIRN_OK);
  cairn_recover_options recover = CAIRN_RECOVER_OPTIONS_INIT;
  recover.files = files;
  EXPECT_EQ(cairn_recover("/copy", &recover, nullptr, nullptr), CAIRN_OK);
  // Programs of before files are served, and mean the operating system's.
  recover.struct_size = offsetof(cairn_recover_options, files);
  EXPECT_EQ(cairn_recover("/copy", &recover, nullptr, nullptr), CAIRN_NOT_FOUND);
  copy.struct_size = offsetof(cairn_copy_options, files);
  EXPECT_EQ(cairn_snapshot_copy_to(snapshot, "/no folder/copy", &copy, nullptr), CAIRN_NOT_FOUND);
  cairn_snapshot_free(snapshot);
  cairn_frame_free(frame);
  cairn_files_free(files);
}

TEST(StructVersionsTest, FilesBecomeTheFileSystem) {
  cairn_files* files = nullptr;
  cairn_status status;
  const std::shared_ptr<FileSystem> memory = MakeMemoryFileSystem();
  ASSERT_EQ(ReturnFiles(memory, &files, &status), CAIRN_OK);
  cairn_open_options open = CAIRN_OPEN_OPTIONS_INIT;
  open.files = files;
  EXPECT_EQ(ToCpp(&open)->file_system, memory);
  cairn_create_options create = CAIRN_CREATE_OPTIONS_INIT;
  create.files = files;
  EXPECT_EQ(ToCpp(&create)->file_system, memory);
  cairn_files_free(files);

  EXPECT_EQ(ReturnFiles(absl::NotFoundError("none"), &files, &status), CAIRN_NOT_FOUND);
  EXPECT_EQ(files, nullptr);
  EXPECT_STREQ(status.message, "none");
}

TEST(StructVersionsTest, OptionsWithoutValuesAreThoseOfCpp) {
  const OpenOptions open;
  const auto c_open = ToCpp(static_cast<const cairn_open_options*>(nullptr));
  ASSERT_TRUE(c_open.ok());
  EXPECT_EQ(c_open->use_mmap, open.use_mmap);
  EXPECT_EQ(c_open->verify, open.verify);
  EXPECT_EQ(c_open->generation, open.generation);
  EXPECT_EQ(c_open->limits.max_chunk_nbytes, open.limits.max_chunk_nbytes);
  EXPECT_EQ(c_open->limits.max_metadata_nbytes, open.limits.max_metadata_nbytes);
  EXPECT_EQ(c_open->limits.max_nchunks, open.limits.max_nchunks);
  EXPECT_EQ(c_open->limits.max_decode_memory, open.limits.max_decode_memory);
  EXPECT_EQ(c_open->max_mapped_files, open.max_mapped_files);
  EXPECT_EQ(c_open->cache_memory, open.cache_memory);

  const CreateOptions create;
  const auto c_create = ToCpp(static_cast<const cairn_create_options*>(nullptr));
  ASSERT_TRUE(c_create.ok());
  EXPECT_EQ(c_create->chunksize, create.chunksize);
  EXPECT_EQ(c_create->layout, create.layout);
  EXPECT_EQ(c_create->fingerprint, create.fingerprint);
  EXPECT_EQ(c_create->compression.codec, create.compression.codec);
  EXPECT_EQ(c_create->compression.clevel, create.compression.clevel);
  EXPECT_EQ(c_create->compression.typesize, create.compression.typesize);
  EXPECT_EQ(c_create->compression.split_mode, create.compression.split_mode);
  EXPECT_EQ(c_create->compression.filters, create.compression.filters);

  const WriterOptions writer;
  const auto c_writer = ToCpp(static_cast<const cairn_writer_options*>(nullptr));
  ASSERT_TRUE(c_writer.ok());
  EXPECT_EQ(c_writer->compression.has_value(), writer.compression.has_value());
  EXPECT_EQ(c_writer->chunksize, writer.chunksize);
  EXPECT_EQ(c_writer->wait, writer.wait);
  EXPECT_EQ(c_writer->keep_generations, writer.keep_generations);
  EXPECT_EQ(c_writer->max_file_size, writer.max_file_size);
  EXPECT_EQ(c_writer->staged_memory, writer.staged_memory);
  EXPECT_EQ(c_writer->opening, writer.opening);
}

}  // namespace
}  // namespace cairn::c_api
