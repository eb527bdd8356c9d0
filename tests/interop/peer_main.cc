#include <blosc2.h>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  blosc2_init();
  const int result = RUN_ALL_TESTS();
  blosc2_destroy();
  return result;
}
