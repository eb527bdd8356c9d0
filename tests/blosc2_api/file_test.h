// Tests of a file that both libraries use.
#ifndef CAIRN_TESTS_BLOSC2_API_FILE_TEST_H_
#define CAIRN_TESTS_BLOSC2_API_FILE_TEST_H_

#include <blosc2.h>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/blosc2_api/calls.h"

namespace cairn::blosc2_api {

// Loads the libraries, and has a folder for the file. The parameter says whether it is contiguous.
class FileTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(genuine_.Load(std::getenv("GENUINE_BLOSC2")));
    ASSERT_TRUE(ours_.Load(std::getenv("CAIRN_BLOSC2_API")));
    char name[] = "/tmp/cairn_blosc2_file_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    path_ = folder_ + "/frame.b2frame";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Creates the file with our library, for items of 4 bytes.
  blosc2_schunk* Create() {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = 4;
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    storage.contiguous = GetParam();
    storage.urlpath = path_.data();
    storage.cparams = &cparams;
    return ours_.blosc2_schunk_new(&storage);
  }

  Calls genuine_;
  Calls ours_;
  std::string folder_;
  std::string path_;
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_TESTS_BLOSC2_API_FILE_TEST_H_
